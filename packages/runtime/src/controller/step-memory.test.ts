import { expect, test } from "vitest";
import { act, rest, wait } from "./step.ts";
import { rememberStep, type StepMemory } from "./step-memory.ts";

const grow = (by: number, reason: string) =>
  act<{ readonly grow: { readonly by: number } }, "grow">("grow", { by }, reason);

test("a step that is planned again is due ever later, and known since when it was planned first", () => {
  const memory: StepMemory = { step: undefined };
  const step = grow(1, "small");
  const delays = [0, 1_000, 2_000, 3_000].map((nowMs) => rememberStep(memory, step, nowMs).again);
  expect(delays).toMatchObject([{ delayMs: 0 }, { delayMs: 100 }, { delayMs: 200 }, { delayMs: 400 }]);
  expect(rememberStep(memory, step, 4_000).planned).toMatchObject({ sinceMs: 0, repeats: 4 });
  expect(rememberStep(memory, wait("slow", 500), 5_000).planned).toMatchObject({ sinceMs: 5_000, repeats: 0 });
});

test("a step with another reason, other arguments or another delay is another step", () => {
  const steps = [
    grow(1, "small"),
    grow(2, "small"),
    grow(2, "still small"),
    wait("slow", 1),
    wait("slow", 2),
    wait("slower", 2),
  ];
  const memory: StepMemory = { step: undefined };
  for (const step of steps) {
    expect(rememberStep(memory, step, 0).planned.repeats).toBe(0);
    expect(rememberStep(memory, { ...step }, 0).planned.repeats).toBe(1);
  }
});

test("nothing is remembered of an object at rest", () => {
  const memory: StepMemory = { step: undefined };
  rememberStep(memory, grow(1, "small"), 0);
  rememberStep(memory, rest(), 1);
  expect(memory.step).toBeUndefined();
});
