import type { Clock } from "@setpoint/host";
import type { TerminalSize } from "./terminal-relay.ts";

/** A loaded monitor reads what was written within the first of these together. */
const againMs = [100, 1_000];

/**
 * Passes sizes on, and the last one again a moment later. Of lines that conmon 2.1 reads together it takes
 * the first, and kubectl sends two sizes when it attaches. Nothing is signalled when nothing changes.
 */
export function lastSizeAgain(clock: Clock, write: (size: TerminalSize) => void): (size: TerminalSize) => void {
  let timers: readonly { cancel(): void }[] = [];
  return (size) => {
    for (const timer of timers) timer.cancel();
    write(size);
    timers = againMs.map((delayMs) => clock.setTimer(() => write(size), delayMs, { unref: true }));
  };
}
