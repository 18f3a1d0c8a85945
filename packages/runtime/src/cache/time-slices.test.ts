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

test("a hundred thousand steps of 10 µs never keep the event loop for 20 ms", async () => {
  const { longestMs, turns } = await longestSliceMs(0.01, 100_000);
  expect(longestMs).toBeLessThan(5);
  expect(turns).toBeGreaterThan(100);
});

test("slices of steps as long as a reconcile are not much longer", async () => {
  expect((await longestSliceMs(0.1, 10_000)).longestMs).toBeLessThan(6);
});

test("work that is short is not cut", async () => {
  expect((await longestSliceMs(0.01, 300)).turns).toBe(0);
});
