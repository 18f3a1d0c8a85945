/** Performs one step; decides nothing. */
import { isNotFound, type ReconcileContext, requeueAfter, type Result } from "setpoint";
import { evictPod, isTooManyRequests } from "setpoint/client";
import { NetworkPolicy, Pod } from "setpoint/kinds";
import type { HatefulSet } from "../kind/hateful-set.ts";
import type { ChaosActions } from "../plan/chaos-step.ts";
import type { Seen } from "../seen/seen.ts";
import { partitionPolicy } from "./partition-policy.ts";

/** A budget that forbids it now may allow it soon. */
const refusedMs = 2_000;

/** Ends the pod that the record names, and no other of its name. */
export async function strike(
  { act, blow }: ChaosActions["strike"],
  context: ReconcileContext,
  { set }: Seen,
): Promise<Result | void> {
  const { victim, lasting } = act;
  if (lasting !== undefined) return void (await context.create(partitionPolicy(set, lasting)));
  const { client, signal } = context;
  const key = { name: victim.name, namespace: set.metadata.namespace ?? "" };
  const { method, ...grace } = blow;
  const options = { preconditions: { uid: victim.uid }, ...grace, signal };
  try {
    await (method === "evict" ? evictPod(client, key, options) : client.delete(Pod, key, options));
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isTooManyRequests(error)) throw error;
    return requeueAfter(refusedMs, error instanceof Error ? error.message : "a disruption budget forbids the eviction");
  }
}

/** Ends a fault that lasts. */
export async function undo({ policy }: ChaosActions["undo"], context: ReconcileContext, { set }: Seen): Promise<void> {
  const { namespace } = set.metadata;
  await context.delete(NetworkPolicy({ name: policy, ...(namespace === undefined ? {} : { namespace }), spec: {} }));
}

/** Ends all faults of a HatefulSet that is being deleted. */
export async function undoAll(_: HatefulSet, context: ReconcileContext): Promise<void> {
  for (const policy of context.children.list(NetworkPolicy)) await context.delete(policy);
}

/** What the status has said already is all there is to do. */
export async function record(): Promise<void> {}
