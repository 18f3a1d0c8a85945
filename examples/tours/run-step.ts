import { messageOf } from "@setpoint/apimachinery";
import { systemClock } from "@setpoint/host/system";
import type { Print } from "./example.ts";

/** Runs a step of a tour and prints its seconds and what it says, or why it does not hold. */
export async function runStep(name: string, print: Print, run: () => Promise<string>): Promise<boolean> {
  const startedMs = systemClock.monotonic();
  const took = (): string => `${((systemClock.monotonic() - startedMs) / 1000).toFixed(1).padStart(5)} s`;
  try {
    const said = await run();
    print(`  ok    ${took()}  ${name}: ${said}`);
    return true;
  } catch (error) {
    print(`  FAIL  ${took()}  ${name}: ${messageOf(error)}`);
    return false;
  }
}
