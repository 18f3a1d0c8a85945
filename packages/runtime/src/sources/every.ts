import { sleep } from "@setpoint/host";
import { checkMs } from "../controller/check-number.ts";
import { wakeAll, type KeysOf, type Source, type SourcePorts } from "./source.ts";

/**
 * Wakes keys at a steady pace, the first time one interval after the start; with low priority, so that changes go first:
 * `every(minutes(5))` looks at all objects, `every(minutes(5), (cache) => …)` at those that the function names.
 *
 * Ticks do not drift, and those that a busy or sleeping process missed become one.
 */
export function every(intervalMs: number, keysOf?: KeysOf): Source {
  checkMs("every()", "interval", intervalMs);
  return { name: `every ${intervalMs} ms`, run: (ports) => tick(intervalMs, keysOf, ports) };
}

async function tick(intervalMs: number, keysOf: KeysOf | undefined, ports: SourcePorts): Promise<void> {
  const { clock, signal } = ports;
  const startMs = clock.monotonic();
  for (;;) {
    const passed = Math.floor((clock.monotonic() - startMs) / intervalMs);
    await sleep(clock, startMs + (passed + 1) * intervalMs - clock.monotonic(), signal);
    wakeAll(ports, keysOf, "low");
    ports.works();
  }
}
