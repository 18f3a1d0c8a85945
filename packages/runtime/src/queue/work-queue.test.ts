import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { WorkQueue } from "./work-queue.ts";

function createQueue(seed = 1) {
  const host = simulatedHost(seed);
  return { host, queue: new WorkQueue({ ...host, name: "test" }) };
}

test("WorkQueue.add() keeps one entry for equal keys", () => {
  const { queue } = createQueue();
  queue.add("a/x");
  queue.add("a/x");
  expect(queue.take()).toBe("a/x");
  expect(queue.take()).toBeUndefined();
});

test("a key that is worked on is not given out again before done(), and comes back then", () => {
  const { queue } = createQueue();
  queue.add("a/x");
  queue.take();
  queue.add("a/x");
  expect(queue.take()).toBeUndefined();
  queue.done("a/x");
  expect(queue.take()).toBe("a/x");
  queue.done("a/x");
  expect(queue.take()).toBeUndefined();
});

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

test("a thousand keys of one namespace do not hold up the one of another", () => {
  const { queue } = createQueue();
  for (let i = 0; i < 1_000; i++) queue.add(`big/${i}`);
  queue.add("small/only");
  const first = [queue.take(), queue.take()];
  expect(first).toContain("small/only");
});

test("the back-off of a key grows to a limit and starts anew when it is forgotten", () => {
  const { queue } = createQueue();
  const delays = Array.from({ length: 30 }, () => queue.addRateLimited("a/x"));
  expect(delays[0]).toBeLessThanOrEqual(5);
  expect(delays[10]).toBeGreaterThan(2_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_000_000);
  queue.forget("a/x");
  expect(queue.addRateLimited("a/x")).toBeLessThanOrEqual(5);
});

test("a closed queue leaves no timer and gives out nothing", async () => {
  const { host, queue } = createQueue();
  queue.add("a/x");
  queue.addAfter("a/y", 100);
  queue.close();
  await host.clock.run(1_000);
  expect(queue.take()).toBeUndefined();
  expect(queue.delayedCount).toBe(0);
});
