/** Keeps one pod on the claim with the data, and follows restores. */
import { choosePlan, restoreMarkOf, type RestoreMark } from "@setpoint/data-service";
import { type ConditionInit, controller, type ReconcileContext, type Stored } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { KeyValueStore } from "./key-value-store.ts";
import { claimOf, keyValueClaim, keyValuePlans, serverPod } from "./resources.ts";

type Status = Omit<NonNullable<KeyValueStore["status"]>, "conditions">;
type Claims = Pick<Status, "claim" | "previousClaim" | "restored">;

export const keyValueStores: ReturnType<typeof controller> = controller(KeyValueStore, {
  owns: [Pod, PersistentVolumeClaim],
  async reconcile(store, context) {
    const { name, namespace } = store.metadata;
    const mark = restoreMarkOf(store);
    const pod = context.get(Pod, `${name}-0`, namespace);
    const claims = claimsFor(store, mark);
    const hasClaim = context.get(PersistentVolumeClaim, claims.claim ?? "", namespace) !== undefined;
    const plan = hasClaim ? undefined : store.spec.plan;
    const { refusal } = choosePlan(keyValuePlans, plan, undefined, context.host.clock.now());
    const isRunning = mark?.state !== "waiting" && mark?.state !== "stop";
    const status = statusOf(store, isRunning ? pod : undefined, claims);
    context.condition(available(status, refusal));
    // The status comes first: it says which claim has the data.
    await context.status({ ...status, ...stoppedFor(pod, mark) });
    if (isRunning && refusal === undefined) await run(store, pod, claims.claim ?? "", context);
    else if (pod !== undefined) await stop(pod, context);
    if (mark?.state === "done" && claims.previousClaim !== undefined) await drop(claims.previousClaim, store, context);
    return context.awaitChange();
  },
});

/** Which claim has the data: that of the restore while it runs on it, else that from before. */
function claimsFor(store: Stored<KeyValueStore>, mark: RestoreMark | undefined): Claims {
  const before = store.status;
  const own = before?.claim ?? keyValueClaim(store).metadata.name ?? "";
  const prepared = mark === undefined ? "" : (keyValueClaim(store, mark.id).metadata.name ?? "");
  if (mark?.state === "start" && own !== prepared) {
    const isNew = before?.restored === undefined && before?.serving !== true && before?.claim === undefined;
    return { claim: prepared, previousClaim: isNew ? undefined : own, restored: mark.id };
  }
  if (mark?.state === "back" && own === prepared) return { claim: before?.previousClaim };
  if (mark?.state === "waiting") return {};
  return { claim: own, previousClaim: before?.previousClaim, restored: before?.restored };
}

function statusOf(store: Stored<KeyValueStore>, pod: Stored<Pod> | undefined, claims: Claims): Status {
  const isReady = pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const serving = isReady && pod?.metadata.deletionTimestamp === undefined && claimOf(pod) === claims.claim;
  const podIP = serving ? pod?.status?.podIP : undefined;
  return { ...claims, observedGeneration: store.metadata.generation, serving, podIP };
}

function available({ serving }: Status, refusal = ""): ConditionInit {
  if (refusal !== "") return { type: "Available", status: "False", reason: "PlanRefused", message: refusal };
  return serving
    ? { type: "Available", status: "True", reason: "PodReady", message: "The server answers" }
    : { type: "Available", status: "False", reason: "PodNotReady", message: "Waiting until the pod is ready" };
}

function stoppedFor(pod: Pod | undefined, mark: RestoreMark | undefined): Pick<Status, "stoppedFor"> {
  return pod === undefined && (mark?.state === "stop" || mark?.state === "waiting") ? { stoppedFor: mark.id } : {};
}

async function run(
  store: Stored<KeyValueStore>,
  pod: Stored<Pod> | undefined,
  claim: string,
  context: ReconcileContext,
): Promise<void> {
  const first = keyValueClaim(store);
  if (
    claim === first.metadata.name &&
    context.get(PersistentVolumeClaim, claim, store.metadata.namespace) === undefined
  )
    await context.create(first);
  if (pod === undefined) await context.create(serverPod(store, claim));
  else if (claimOf(pod) !== claim) await stop(pod, context);
}

async function stop(pod: Stored<Pod>, context: ReconcileContext): Promise<void> {
  if (pod.metadata.deletionTimestamp === undefined) await context.delete(pod);
}

async function drop(name: string, { metadata }: Stored<KeyValueStore>, context: ReconcileContext): Promise<void> {
  const claim = context.get(PersistentVolumeClaim, name, metadata.namespace);
  if (claim !== undefined && claim.metadata.deletionTimestamp === undefined) await context.delete(claim);
}
