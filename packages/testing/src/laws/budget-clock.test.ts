import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { budgetClock } from "./budget-clock.ts";

test.each([
  ["a thread that runs all the time is at its CPU time", { realMs: 10_000, cpuMs: 10_000 }, 10_000],
  ["a thread that waits for a CPU has time left", { realMs: 30_000, cpuMs: 10_000 }, 10_000],
  ["a thread that gets hardly any CPU ends after six times its budget", { realMs: 60_000, cpuMs: 100 }, 10_000],
])("%s", async (_claim, { realMs, cpuMs }, elapsedMs) => {
  let usedMs = 0;
  const real = new VirtualClock(seededRandom(1));
  const clock = budgetClock(real, () => usedMs);
  expect(clock.monotonic()).toBe(0);
  usedMs = cpuMs;
  await real.run(realMs);
  expect(clock.monotonic()).toBe(elapsedMs);
});

test("the CPU time of this thread grows with its work", () => {
  const clock = budgetClock();
  const until = performance.now() + 50;
  while (performance.now() < until) Math.sqrt(until);
  expect(clock.monotonic()).toBeGreaterThan(50 / 6 - 1);
});
