/**
 * When a container that ended may start again: at once the first time, then after 10 s, doubled up to 5 min.
 */

export const restartDelayMsFirst = 10_000;
export const restartDelayMsMax = 300_000;
/** A container that ran this long starts again as if for the first time. */
export const runningMsToForget = 600_000;

export interface RestartBackOff {
  /** Of the restart that is due now. */
  readonly delayMs: number;
  /** Of the one after it. */
  readonly nextMs: number;
}

export const noBackOff: RestartBackOff = { delayMs: 0, nextMs: 0 };

/** After a container has ended that ran for `ranMs`. */
export function nextBackOff(previous: RestartBackOff, ranMs: number): RestartBackOff {
  const isFirst = previous.nextMs === 0 || ranMs >= runningMsToForget;
  if (isFirst) return { delayMs: 0, nextMs: restartDelayMsFirst };
  return { delayMs: previous.nextMs, nextMs: Math.min(previous.nextMs * 2, restartDelayMsMax) };
}
