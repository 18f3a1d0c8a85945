import type { KubeObject } from "@setpoint/apimachinery";
import { checkMs } from "../controller/check-number.ts";
import type { Daemon } from "../controller/daemon.ts";

/** Options of `timer`; times are in milliseconds. */
export interface TimerOptions {
  /** Before the first call; default: the interval. */
  readonly initialDelayMs?: number;
}

/**
 * A daemon that calls a function again and again, with the object as it is then:
 * `daemons: { probe: timer(seconds(30), async (member, { wake }) => …) }`. The pause is counted from the end
 * of a call, so calls never overlap.
 */
export function timer<T extends KubeObject>(
  intervalMs: number,
  tick: Daemon<T>,
  options: TimerOptions = {},
): Daemon<T> {
  checkMs("timer()", "interval", intervalMs);
  const { initialDelayMs = intervalMs } = options;
  return async (_object, context) => {
    if (initialDelayMs > 0) await context.sleep(initialDelayMs);
    for (;;) {
      await tick(context.current(), context);
      await context.sleep(intervalMs);
    }
  };
}
