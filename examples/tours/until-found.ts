import { messageOf } from "@setpoint/apimachinery";
import { sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";

const lookEveryMs = 200;
/** The first start may wait for an image. */
const waitMsMax = 300_000;

/** The first result of `look` that is not undefined. Errors: with what was awaited, after five minutes. */
export async function untilFound<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  let silence = "";
  for (const endMs = systemClock.monotonic() + waitMsMax; ; await sleep(systemClock, lookEveryMs)) {
    const found = await look().catch((error: unknown) => void (silence = ` (${messageOf(error)})`));
    if (found !== undefined) return found;
    if (systemClock.monotonic() > endMs) throw new Error(`Waited ${waitMsMax / 1000} s for ${what}${silence}`);
  }
}
