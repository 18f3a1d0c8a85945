import { expect, test } from "vitest";
import { systemClock } from "./system-clock.ts";

test("a timer for a moment that has passed is due at once, and nothing is warned of", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): number => warnings.push(name);
  process.on("warning", note);
  await new Promise<void>((resolve) => systemClock.setTimer(resolve, -5));
  // Node tells of warnings in a turn of its own.
  await new Promise<void>((resolve) => systemClock.setTimer(resolve, 1));
  process.off("warning", note);
  expect(warnings).toEqual([]);
});
