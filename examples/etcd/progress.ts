/** Shows what is being waited for and why, a line whenever it changes. */
import { Pod } from "setpoint/kinds";
import { isNotFound, messageOf, SetpointError } from "@setpoint/apimachinery";
import { systemClock } from "@setpoint/host/system";
import { sleep } from "@setpoint/host";
import type { ClusterUnderTour } from "./tour/cluster-under-tour.ts";
import { etcdClient, urlOf } from "./tour/etcd-client.ts";

/** Resolves when the cluster is as wanted; throws after `withinMs`. */
export async function showUntilRunning(
  cluster: ClusterUnderTour,
  print: (line: string) => void,
  withinMs: number,
): Promise<void> {
  const deadline = systemClock.monotonic() + withinMs;
  let said = "";
  for (;;) {
    const line = await currentState(cluster);
    if (line !== said && line !== undefined) print(`  ${line}`);
    said = line ?? said;
    const silence = line?.startsWith("Running") === true ? await silenceOf(cluster) : "";
    if (silence === undefined) return;
    await requireImages(cluster);
    if (systemClock.monotonic() > deadline)
      throw notRunning(`The cluster "${cluster.name}" is not running after ${withinMs / 1000} s: ${said}${silence}`);
    await sleep(systemClock, 200);
  }
}

function notRunning(message: string): SetpointError {
  return new SetpointError("ERR_NODE", message);
}

/** A node tries again by itself, but a person who waits for a download that cannot be should know at once. */
async function requireImages({ client, operator, namespace, selector }: ClusterUnderTour): Promise<void> {
  const operatorPods = client.listAll(Pod, {
    namespace: operator.namespace,
    labelSelector: operatorSelector(operator.name),
  });
  const lists = await Promise.all([operatorPods, client.listAll(Pod, { namespace, labelSelector: selector })]);
  const containers = lists.flatMap(({ items }) => items).flatMap((pod) => pod.status?.containerStatuses ?? []);
  for (const { state } of containers) {
    const { reason, message } = state?.waiting ?? {};
    if (reason === "ErrImagePull" && message !== undefined) throw notRunning(message);
  }
}

function operatorSelector(name: string): string {
  return `app.kubernetes.io/name=${name}`;
}

/**
 * Why clients get no answer; undefined when they get one. Right after a start the status may still be that of
 * the last run.
 */
async function silenceOf(cluster: ClusterUnderTour): Promise<string | undefined> {
  const endpoint = await cluster.clientEndpoint();
  const etcd = etcdClient(endpoint);
  try {
    await etcd.get("health");
    return undefined;
  } catch (error) {
    return `, but a client at ${urlOf(endpoint)} gets no answer: ${messageOf(error)}`;
  } finally {
    etcd.close();
  }
}

async function currentState(cluster: ClusterUnderTour): Promise<string | undefined> {
  const { spec, status, metadata } = await cluster.get();
  if (status === undefined) return operatorState(cluster);
  const { phase, readyMembers, waitingFor } = status;
  const said = `${phase}: ${readyMembers} of ${spec.size} members ready`;
  if (phase === "Running" && status.observedGeneration === metadata.generation) return said;
  return waitingFor === undefined ? said : `${said}; ${waitingFor.what}`;
}

/** Before the operator has looked at the cluster, the wait is for the operator itself. */
async function operatorState({ client, operator }: ClusterUnderTour): Promise<string> {
  const labelSelector = operatorSelector(operator.name);
  const { items } = await client
    .listAll(Pod, { namespace: operator.namespace, labelSelector })
    .catch((error: unknown) => {
      if (isNotFound(error)) return { items: [] };
      throw error;
    });
  const [pod] = items;
  if (pod === undefined) return "waiting for the operator's pod to be made";
  const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting;
  const why =
    waiting?.reason === undefined
      ? (pod.status?.phase ?? "Pending")
      : `${waiting.reason}${waiting.message === undefined ? "" : `: ${waiting.message}`}`;
  return `waiting for the operator (pod ${pod.metadata.name}: ${why})`;
}
