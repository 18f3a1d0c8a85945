import { expect, test, vi } from "vitest";
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

test("a timer for longer than Node's timers count is due then, and can be cancelled in each of its parts", () => {
  vi.useFakeTimers();
  try {
    const days = 86_400_000;
    const due: string[] = [];
    systemClock.setTimer(() => due.push("60 days"), 60 * days);
    const cancelled = systemClock.setTimer(() => due.push("cancelled"), 60 * days);
    vi.advanceTimersByTime(30 * days);
    cancelled.cancel();
    vi.advanceTimersByTime(30 * days - 1);
    expect(due).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(due).toEqual(["60 days"]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
