/** One node for a server without a scheduler and a kubelet: it sets what both would set, and runs nothing. */
import { Node, Pod } from "@setpoint/api";
import { isConflict, isNotFound } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { sleep, timestamp } from "@setpoint/host";
import type { Side } from "./sides.ts";

const nodeName = "n";
const passMs = 200;
const indexAnnotation = "batch.kubernetes.io/job-completion-index";

/** The first word of the command of a pod's container: what the pod does. Without one it serves for ever. */
export type Deed = "serve" | "end" | "fail" | "fail-index-1";

/** Plays until the signal. */
export async function playKubelet({ client, host }: Side, signal: AbortSignal): Promise<void> {
  await client.create(Node, Node({ name: nodeName }));
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "a test" }];
  const resources = { cpu: "8", memory: "16Gi", pods: "110" };
  const status = { conditions, allocatable: resources, capacity: resources };
  await client.patch(Node, { name: nodeName }, { status }, { subresource: "status" });
  // With the taint of a new node, which the controllers of nodes take away, a DaemonSet starts no pod.
  await client.patch(Node, { name: nodeName }, { spec: { taints: null } });
  while (!signal.aborted) {
    const { items } = await client.list(Pod, {});
    for (const pod of items) await play(client, pod, timestamp(host.clock)).catch(unlessGone);
    await sleep(host.clock, passMs);
  }
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}

async function play(client: Client, pod: Stored<Pod>, now: string): Promise<void> {
  const { namespace = "", name } = pod.metadata;
  const key = { namespace, name };
  if (pod.metadata.deletionTimestamp !== undefined) {
    await client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } });
    return;
  }
  if (pod.spec?.nodeName === undefined) {
    const target = { kind: "Node", name: nodeName };
    const body = { apiVersion: "v1", kind: "Binding", metadata: { name }, target };
    await client.request({ method: "POST", path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`, body });
    return;
  }
  if (pod.status?.phase !== undefined && pod.status.phase !== "Pending") return;
  await client.patch(Pod, key, { status: statusOf(pod, now) }, { subresource: "status" });
}

function statusOf(pod: Stored<Pod>, now: string): object {
  const deed = (pod.spec?.containers[0]?.command?.[0] ?? "serve") as Deed;
  const hasFailed = deed === "fail" || (deed === "fail-index-1" && pod.metadata.annotations?.[indexAnnotation] === "1");
  const phase = deed === "serve" ? "Running" : hasFailed ? "Failed" : "Succeeded";
  const isReady = phase === "Running";
  const ended = { exitCode: hasFailed ? 1 : 0, startedAt: now, finishedAt: now };
  const [first] = pod.spec?.containers ?? [];
  const { name, image } = { name: "", image: "", ...first };
  const container = { name, image, imageID: "", restartCount: 0, ready: isReady };
  const podIP = addressOf(pod.metadata.uid);
  return {
    phase,
    podIP,
    podIPs: [{ ip: podIP }],
    hostIP: "10.0.0.1",
    startTime: now,
    conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
      type,
      status: isReady || type === "Initialized" || type === "PodScheduled" ? "True" : "False",
      lastTransitionTime: now,
    })),
    containerStatuses: [{ ...container, state: isReady ? { running: { startedAt: now } } : { terminated: ended } }],
  };
}

function addressOf(uid: string): string {
  const bytes = [0, 2, 4].map((at) => Number.parseInt(uid.slice(at, at + 2), 16));
  return `10.${bytes.join(".")}`;
}
