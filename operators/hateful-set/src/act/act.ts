/** Performs one step; decides nothing. */
import { isNotFound, type ReconcileContext, requeueAfter, type Result } from "setpoint";
import { evictPod, isTooManyRequests } from "setpoint/client";
import { Pod } from "setpoint/kinds";
import type { ChaosActions } from "../plan/chaos-step.ts";
import type { Seen } from "../seen/seen.ts";

/** A budget that forbids it now may allow it soon. */
const refusedMs = 2_000;

/** Ends the pod that the record names, and no other of its name. */
export async function strike(
  { act: { victim }, blow }: ChaosActions["strike"],
  context: ReconcileContext,
  { set }: Seen,
): Promise<Result | void> {
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

/** What the status has said already is all there is to do. */
export async function record(): Promise<void> {}
