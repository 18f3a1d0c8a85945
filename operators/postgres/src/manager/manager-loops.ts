/** What goes on in an instance manager while it runs, by an injected clock. */
import type { InstanceManager } from "./instance-manager.ts";
import type { ManagerClock } from "./manager-clock.ts";

/** While something is going on, and at rest. */
const stepEveryMs = { busy: 250, atRest: 1_000 };
/** Between two tries of what fails, such as a copy of the primary's data, which costs the primary too. */
const retryMsMax = 10_000;
/** The primary of a new cluster needs a few seconds until it can be copied. */
const quickTries = 16;
const fenceEveryMs = 100;

/** Step by step, until the signal. */
export async function stepOn(manager: InstanceManager, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await manager.step(signal);
      failures = 0;
    } catch (error) {
      if (!signal.aborted) manager.fail(error);
      failures++;
    }
    await manager.pause(pauseMs(manager, failures), signal);
  }
}

/** A new document ends the pause: what failed may go well with it. */
function pauseMs({ isSettled }: InstanceManager, failures: number): number {
  if (failures > quickTries) return Math.min(retryMsMax, stepEveryMs.busy * 2 ** (failures - quickTries));
  return isSettled ? stepEveryMs.atRest : stepEveryMs.busy;
}

/** Beside the steps, one of which may copy data for hours. */
export async function fenceOn(manager: InstanceManager, clock: ManagerClock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    manager.fence();
    await clock.sleep(fenceEveryMs, signal);
  }
}
