import type { Clock } from "@setpoint/host";
import { expect, test } from "vitest";
import { TimeSlices } from "./time-slices.ts";

/** A clock whose time goes on with each step of the work, and that counts how often others had their turn. */
function workingClock(msPerStep: number) {
  let nowMs = 0;
  let turns = 0;
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    setTimer: () => ({ cancel: () => undefined }),
    defer(callback) {
      turns++;
      callback();
    },
  };
  return { clock, step: () => void (nowMs += msPerStep), turns: () => turns };
}

async function longestSliceMs(msPerStep: number, steps: number): Promise<{ longestMs: number; turns: number }> {
  const { clock, step, turns } = workingClock(msPerStep);
  const slices = new TimeSlices(clock);
  let [startedMs, longestMs] = [0, 0];
  for (let i = 0; i < steps; i++) {
    step();
    longestMs = Math.max(longestMs, clock.monotonic() - startedMs);
    if (!slices.isOver()) continue;
    await slices.pause();
    startedMs = clock.monotonic();
  }
  return { longestMs, turns: turns() };
}

test("a hundred thousand steps of 10 µs never keep the event loop for more than a slice", async () => {
  const { longestMs, turns } = await longestSliceMs(0.01, 100_000);
  expect(longestMs).toBeLessThan(2.1);
  expect(turns).toBeGreaterThan(400);
});

test("each step that is longer than a slice, as code is that runs for the first time, has a turn of its own", async () => {
  expect(await longestSliceMs(5, 100)).toEqual({ longestMs: 5, turns: 100 });
});

test("work that is short is not cut", async () => {
  expect((await longestSliceMs(0.01, 150)).turns).toBe(0);
});

test("work that is begun after a long wait has a whole slice", async () => {
  const { clock, step, turns } = workingClock(1);
  const slices = new TimeSlices(clock);
  for (let i = 0; i < 100; i++) step();
  slices.begin();
  step();
  expect(slices.isOver()).toBe(false);
  expect(turns()).toBe(0);
});
