/** Keeps one pod on the claim with the data. */
import { choosePlan, type DataClaim, ensureDataClaim, observeDataClaim } from "@setpoint/data-service";
import { type ConditionInit, controller, type ReconcileContext, type Stored } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { KeyValueStore } from "./key-value-store.ts";
import { claimOf, firstClaim, keyValuePlans, serverPod } from "./resources.ts";

type Status = Omit<NonNullable<KeyValueStore["status"]>, "conditions">;

export const keyValueStores: ReturnType<typeof controller> = controller(KeyValueStore, {
  owns: [Pod, PersistentVolumeClaim],
  async reconcile(store, context) {
    const { name, namespace } = store.metadata;
    const pod = context.get(Pod, `${name}-0`, namespace);
    const data = observeDataClaim(store, { first: firstClaim(store), isStopped: pod === undefined }, context);
    // A plan gives the size of a new claim, and nothing else.
    const plan = data.exists ? undefined : store.spec.plan;
    const { refusal } = choosePlan(keyValuePlans, plan, undefined, context.host.clock.now());
    const status = statusOf(store, pod, data);
    context.condition(available(status, refusal, data.refusal));
    // The status comes first: it says which claim has the data.
    await context.status(status);
    if (refusal === undefined) await ensureDataClaim(data, context);
    await keepPod(store, pod, refusal === undefined ? data.runsOn : undefined, context);
    return context.awaitChange();
  },
});

function statusOf(store: Stored<KeyValueStore>, pod: Stored<Pod> | undefined, data: DataClaim): Status {
  const isReady = pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const serving = isReady && pod?.metadata.deletionTimestamp === undefined && claimOf(pod) === data.runsOn;
  const podIP = serving ? pod?.status?.podIP : undefined;
  return { ...data.status, observedGeneration: store.metadata.generation, serving, podIP };
}

function available({ serving }: Status, refusal = "", claimRefusal = ""): ConditionInit {
  if (claimRefusal !== "") return { type: "Available", status: "False", reason: "ClaimTaken", message: claimRefusal };
  if (refusal !== "") return { type: "Available", status: "False", reason: "PlanRefused", message: refusal };
  return serving
    ? { type: "Available", status: "True", reason: "PodReady", message: "The server answers" }
    : { type: "Available", status: "False", reason: "PodNotReady", message: "Waiting until the pod is ready" };
}

/** A pod on `claim`, or none. */
async function keepPod(
  store: Stored<KeyValueStore>,
  pod: Stored<Pod> | undefined,
  claim: string | undefined,
  context: ReconcileContext,
): Promise<void> {
  if (pod === undefined && claim !== undefined) await context.create(serverPod(store, claim));
  const isWrong = pod !== undefined && claimOf(pod) !== claim;
  if (isWrong && pod.metadata.deletionTimestamp === undefined) await context.delete(pod);
}
