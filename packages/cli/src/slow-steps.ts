/** What a command does, for a person who waits longer than a few seconds. */
import { SlowSteps } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import type { Output } from "./command.ts";

/** A line for each step that takes long. */
export function slowSteps(say: (line: string) => void): SlowSteps {
  return new SlowSteps({
    clock: systemClock,
    say: (step, seconds) => say(`  ${step}, ${seconds} s so far …`),
  });
}

/** Does `work`, and says `what` it is when it takes long, as in "waiting for the caches". */
export async function withSlowStep<T>(output: Pick<Output, "err">, what: string, work: Promise<T>): Promise<T> {
  using steps = slowSteps((line) => output.err(`${line}\n`));
  steps.begin(what);
  return await work;
}
