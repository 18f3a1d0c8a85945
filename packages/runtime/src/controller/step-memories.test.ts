import { expect, test } from "vitest";
import { act, rest, wait } from "./step.ts";
import { StepMemories } from "./step-memories.ts";

const hourMs = 3_600_000;
const heal = act<{ readonly heal: object }, "heal">("heal", {}, "it is ill");

test("a step that is planned again is due ever later, and known since when it was planned first", () => {
  const memories = new StepMemories();
  const delays = [0, 1_000, 2_000, 3_000].map((nowMs) => memories.remember("a", heal, nowMs).again);
  expect(delays).toMatchObject([{ delayMs: 0 }, { delayMs: 100 }, { delayMs: 200 }, { delayMs: 400 }]);
  expect(memories.remember("a", heal, 4_000).memory).toMatchObject({ sinceMs: 0, repeats: 4 });
  expect(memories.remember("a", wait("slow", 500), 5_000).memory).toMatchObject({ sinceMs: 5_000, repeats: 0 });
});

test("a step with another reason, other arguments or another delay is another step", () => {
  const grow = (by: number, reason: string) =>
    act<{ readonly grow: { readonly by: number } }, "grow">("grow", { by }, reason);
  const steps = [
    grow(1, "small"),
    grow(2, "small"),
    grow(2, "still small"),
    wait("slow", 1),
    wait("slow", 2),
    wait("slower", 2),
  ];
  const memories = new StepMemories();
  for (const step of steps) expect(memories.remember("a", step, 0).memory.repeats).toBe(0);
  for (const step of steps.map((each) => ({ ...each }))) {
    memories.remember("b", step, 0);
    expect(memories.remember("b", { ...step }, 0).memory.repeats).toBe(1);
  }
});

test("nothing is remembered of keys at rest", () => {
  const memories = new StepMemories();
  memories.remember("a", heal, 0);
  memories.remember("a", rest(), 1);
  expect(memories.size).toBe(0);
});

test("objects that go in the middle of their work are forgotten, those that wait for long are not", () => {
  const memories = new StepMemories();
  memories.remember("patient", wait("a day", 24 * hourMs), 0);
  for (let index = 0; index < 20_000; index++) memories.remember(`gone-${index}`, heal, index * 3_000);
  expect(memories.size).toBeLessThan(2_500);
  expect(memories.remember("patient", wait("a day", 24 * hourMs), 24 * hourMs).memory.sinceMs).toBe(0);
});
