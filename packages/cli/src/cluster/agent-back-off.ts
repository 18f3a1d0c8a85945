/**
 * When a node agent that ended starts again: at once the first time, later when it ends soon after each
 * start.
 */

const delayMsFirst = 100;
const delayMsMax = 30_000;
/** An agent that ran this long starts again as if for the first time. */
const ranMsToForget = 30_000;

/** The delay after a run of `ranMs`; `previousMs` is the one before that run, 0 for none. */
export function agentDelayMs(previousMs: number, ranMs: number): number {
  if (previousMs === 0 || ranMs >= ranMsToForget) return delayMsFirst;
  return Math.min(previousMs * 2, delayMsMax);
}
