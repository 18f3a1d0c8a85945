import type { OwnWrites } from "../writes/own-writes.ts";
import type { Reconciler } from "./reconciler.ts";
import type { RunVerdict } from "./run-supervisor.ts";

/** A run that asks to be repeated so soon is counted by the protection against reconcile loops. */
const soonMsMax = 60_000;

/**
 * Tells echoes of a run's own writes from changes, so that a key that runs again and again for nothing is
 * slowed down.
 */
export function slowDownIdleRuns(
  key: string,
  verdict: RunVerdict | undefined,
  ownWrites: Pick<OwnWrites, "isEcho">,
  { states, protections, queue, find }: Reconciler,
): void {
  const state = states.get(key);
  if (state === undefined) return;
  const { wokenBy } = state;
  state.wokenBy = [];
  const object = find(key);
  if (verdict === undefined || verdict.end === "error" || object === undefined) return;
  const { result } = verdict;
  const isSoon = wokenBy.length > 0 || (result?.kind === "requeueAfter" && result.delayMs < soonMsMax);
  const isEcho = wokenBy.every((each) => ownWrites.isEcho(each));
  const againMs = protections.afterRun(state, object, isEcho, isSoon);
  if (againMs !== undefined) queue.addAfter(key, againMs);
}
