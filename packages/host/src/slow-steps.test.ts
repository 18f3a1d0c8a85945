import { expect, test } from "vitest";
import { simulatedHost } from "@setpoint/host/simulated";
import { SlowSteps } from "./slow-steps.ts";

function world(): { readonly said: string[]; readonly steps: SlowSteps; readonly pass: (ms: number) => Promise<void> } {
  const { clock } = simulatedHost(1);
  const said: string[] = [];
  const steps = new SlowSteps({ clock, say: (step, seconds) => said.push(`${step} (${seconds} s)`) });
  return { said, steps, pass: async (ms) => void (await clock.run(ms)) };
}

test("SlowSteps says nothing while a start is quick", async () => {
  const { said, steps, pass } = world();
  steps.begin("opening the store");
  await pass(1_500);
  steps.begin("starting the node");
  await pass(1_400);
  steps[Symbol.dispose]();
  await pass(60_000);
  expect(said).toEqual([]);
});

test("SlowSteps says the step that takes long, says it again, and then each step as it begins", async () => {
  const { said, steps, pass } = world();
  steps.begin("opening the store");
  await pass(14_000);
  steps.begin("starting the node");
  steps[Symbol.dispose]();
  expect(said).toEqual(["opening the store (3 s)", "opening the store (13 s)", "starting the node (14 s)"]);
});
