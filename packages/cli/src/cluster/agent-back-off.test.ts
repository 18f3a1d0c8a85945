import { expect, test } from "vitest";
import { agentDelayMs } from "./agent-back-off.ts";

test("an agent that ended starts again at once, and later when it ends again and again", () => {
  const delays: number[] = [];
  for (let i = 0; i < 12; i++) delays.push(agentDelayMs(delays.at(-1) ?? 0, 10));
  expect(delays.slice(0, 4)).toEqual([100, 200, 400, 800]);
  expect(delays.at(-1)).toBe(30_000);
});

test("an agent that ran for a while starts again at once", () => {
  expect(agentDelayMs(30_000, 60_000)).toBe(100);
});
