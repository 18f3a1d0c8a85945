import { sleep } from "@setpoint/host";
import { checkMs } from "../controller/check-number.ts";
import { resumable, wakeAll, type KeysOf } from "./source.ts";
import { type Source, type SourcePorts } from "../controller/source.ts";

/**
 * Enqueues keys at a fixed interval, first one interval after the start, with low priority:
 * `every(minutes(5))` enqueues all objects, `every(minutes(5), (cache) => …)` those that the function
 * returns.
 *
 * Ticks do not drift. Ticks that a busy or sleeping process missed become one; a tick that failed is
 * repeated.
 */
export function every(intervalMs: number, keysOf?: KeysOf): Source {
  checkMs("every()", "interval", intervalMs);
  return {
    name: `every ${intervalMs} ms`,
    run: resumable<Pace>(
      ({ clock }) => ({ startMs: clock.monotonic(), ticks: 0 }),
      (ports, pace) => tick(intervalMs, keysOf, ports, pace),
    ),
  };
}

/** What has been done since the start; a run that failed goes on with it. */
interface Pace {
  readonly startMs: number;
  ticks: number;
}

async function tick(intervalMs: number, keysOf: KeysOf | undefined, ports: SourcePorts, pace: Pace): Promise<void> {
  const { clock, signal } = ports;
  for (;;) {
    const passed = Math.floor((clock.monotonic() - pace.startMs) / intervalMs);
    if (passed > pace.ticks) {
      wakeAll(ports, keysOf, "low");
      ports.works();
      pace.ticks = passed;
    }
    await sleep(clock, pace.startMs + (passed + 1) * intervalMs - clock.monotonic(), signal);
  }
}
