import type { Clock, Timer } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { createQueue, takeAll } from "./work-queue.fixture.ts";

test("of several delays the earliest counts", async () => {
  const { host, queue } = createQueue();
  queue.addAfter("a/x", 1_000);
  queue.addAfter("a/x", 100);
  queue.addAfter("a/x", 5_000);
  await host.clock.run(99);
  expect(queue.depth).toBe(0);
  await host.clock.run(1);
  expect(queue.take()).toBe("a/x");
  queue.done("a/x");
  await host.clock.run(10_000);
  expect(queue.depth).toBe(0);
});

test("a delay of nothing adds at once", () => {
  const { queue } = createQueue();
  queue.addAfter("a/x", 0);
  expect(takeAll(queue)).toEqual(["a/x"]);
});

test("of a delay and a longer one the first stays as it is, with the urgency that it had", async () => {
  const { host, queue } = createQueue();
  queue.addAfter("a/x", 100, "low");
  queue.addAfter("a/x", 100, "high");
  await host.clock.run(100);
  queue.add("a/y");
  expect(takeAll(queue)).toEqual(["a/y", "a/x"]);
});

test("the back-off of a key grows to a limit and restarts when it is forgotten", () => {
  const { queue } = createQueue();
  const delays = Array.from({ length: 30 }, () => queue.addRateLimited("a/x"));
  expect(delays[0]).toBeLessThanOrEqual(5);
  expect(delays[10]).toBeGreaterThan(2_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_000_000);
  queue.forget("a/x");
  expect(queue.addRateLimited("a/x")).toBeLessThanOrEqual(5);
});

test("a back-off that may not be long is the key's own until then, and leaves that as it is", () => {
  const { queue } = createQueue();
  const delays = Array.from({ length: 20 }, () => queue.addRateLimited("a/x", 1_000));
  expect(delays[0]).toBeLessThanOrEqual(5);
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
  expect(queue.addRateLimited("a/x")).toBeGreaterThanOrEqual(500_000);
});

test("a key's back-off doubles, and at most half of it is left to chance", () => {
  const { queue } = createQueue();
  for (let failures = 0; failures < 20; failures++) {
    const fullMs = Math.min(5 * 2 ** failures, 1_000_000);
    const delayMs = queue.addRateLimited("a/x");
    expect(delayMs).toBeGreaterThanOrEqual(fullMs / 2);
    expect(delayMs).toBeLessThanOrEqual(fullMs);
  }
});

test("keys that fail together do not come back together", () => {
  const { queue } = createQueue();
  const delays = Array.from({ length: 50 }, (_, i) => queue.addRateLimited(`a/${i}`));
  expect(new Set(delays).size).toBe(50);
});

test("a key with a rate limit runs in a burst and then at its pace, and loses no change", async () => {
  const { host, queue } = createQueue({ rateLimit: { minIntervalMs: 1_000, burst: 3 } });
  const runsMs: number[] = [];
  for (let i = 0; i < 60; i++) {
    queue.add("a/busy");
    for (const _ of takeAll(queue)) runsMs.push(host.clock.monotonic());
    await host.clock.run(100);
  }
  expect(runsMs.slice(0, 3)).toEqual([0, 100, 200]);
  const gaps = runsMs.slice(4).map((atMs, i) => atMs - (runsMs[i + 3] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
  // The last change is not forgotten: it runs when it may.
  await host.clock.run(1_000);
  expect(takeAll(queue)).toEqual(["a/busy"]);
});

test("a queue forgets keys that are done, also when a rate limit remembers them for a while", async () => {
  const { host, queue } = createQueue({ rateLimit: { minIntervalMs: 10 } });
  for (let i = 0; i < 20_000; i++) {
    queue.add(`a/${i}`);
    takeAll(queue);
    if (i % 100 === 0) await host.clock.run(10);
  }
  expect(queue.knownCount).toBeLessThan(2_100);
});

/** A clock that says what timers it was asked for, and how many of them are pending. */
function countingClock(clock: Clock): Clock & { readonly asked: number[]; readonly pending: Set<Timer> } {
  const asked: number[] = [];
  const pending = new Set<Timer>();
  return {
    asked,
    pending,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    defer: (callback) => clock.defer(callback),
    setTimer(callback, delayMs) {
      asked.push(delayMs);
      const inner = clock.setTimer(() => {
        pending.delete(timer);
        callback();
      }, delayMs);
      const timer = {
        cancel(): void {
          pending.delete(timer);
          inner.cancel();
        },
      };
      pending.add(timer);
      return timer;
    },
  };
}

test("a delay of months is waited for to its end", async () => {
  const { clock } = simulatedHost(1);
  const { queue } = createQueue({ clock });
  const delayMs = 2 ** 33;
  queue.addAfter("a/x", delayMs);
  await clock.run(delayMs - 1);
  expect(queue.depth).toBe(0);
  await clock.run(1);
  expect(queue.take()).toBe("a/x");
});

test("a timer that fires a moment early is set again, and its key is not lost", async () => {
  const { clock } = simulatedHost(1);
  // As timers of Node, which count whole milliseconds.
  const early: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    defer: (callback) => clock.defer(callback),
    setTimer: (callback, delayMs) => clock.setTimer(callback, Math.max(1, Math.floor(delayMs))),
  };
  const { queue } = createQueue({ clock: early });
  queue.addAfter("a/x", 999.5);
  await clock.run(999);
  expect(queue.depth).toBe(0);
  await clock.run(1);
  expect(queue.take()).toBe("a/x");
});

test("a queue has one timer while keys are delayed, and none when it is closed or nothing is", () => {
  const clock = countingClock(simulatedHost(1).clock);
  const { queue } = createQueue({ clock });
  queue.addAfter("a/x", 2_000);
  queue.addAfter("a/y", 1_000);
  queue.addAfter("a/z", 3_000);
  expect([clock.pending.size, clock.asked]).toEqual([1, [2_000, 1_000]]);
  for (const key of ["a/x", "a/y", "a/z"]) queue.add(key);
  expect(clock.pending.size).toBe(0);
  queue.addAfter("b/x", 1_000);
  queue.close();
  expect(clock.pending.size).toBe(0);
});
