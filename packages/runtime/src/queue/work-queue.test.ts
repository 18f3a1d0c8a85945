import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createQueue, somePriority, takeAll } from "./work-queue.fixture.ts";

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

test("WorkQueue.busyKeys has the keys that are ready or running, and none that waits for a delay", () => {
  const { queue } = createQueue();
  queue.add("a/running");
  queue.take();
  queue.add("a/ready");
  queue.addAfter("a/later", 100);
  expect(queue.busyKeys.toSorted()).toEqual(["a/ready", "a/running"]);
  queue.done("a/running");
  expect(queue.busyKeys).toEqual(["a/ready"]);
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

test("whatever happens to keys, each that was added is given out once for it, and none twice at a time", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key: fc.nat(9), priority: somePriority }),
    fc.record({ do: fc.constant("later" as const), key: fc.nat(9), delayMs: fc.nat(50) }),
    fc.record({ do: fc.constant("take" as const) }),
    fc.record({ do: fc.constant("done" as const), which: fc.nat(9) }),
    fc.record({ do: fc.constant("fail" as const), which: fc.nat(9) }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.nat(30) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.boolean(), async (steps, isLimited) => {
      const { host, queue } = createQueue(isLimited ? { rateLimit: { minIntervalMs: 20, burst: 2 } } : {});
      const running: string[] = [];
      /** Keys that must be given out again. */
      const owed = new Set<string>();
      for (const each of steps) {
        if (each.do === "add" || each.do === "later") {
          const key = `n${each.key % 3}/${each.key}`;
          owed.add(key);
          if (each.do === "add") queue.add(key, each.priority);
          else queue.addAfter(key, each.delayMs);
        } else if (each.do === "wait") await host.clock.run(each.ms);
        else if (each.do === "take") {
          const key = queue.take();
          if (key === undefined) continue;
          expect(running).not.toContain(key);
          running.push(key);
          owed.delete(key);
        } else {
          const [key] = running.splice(each.which % Math.max(1, running.length), 1);
          if (key === undefined) continue;
          if (each.do === "fail") {
            queue.addRateLimited(key);
            owed.add(key);
          } else queue.forget(key);
          queue.done(key);
        }
      }
      for (const key of running) queue.done(key);
      for (let i = 0; i < 200 && owed.size > 0; i++) {
        for (const key of takeAll(queue)) owed.delete(key);
        await host.clock.run(1_000_000);
      }
      expect([...owed]).toEqual([]);
      takeAll(queue);
      expect([queue.depth, queue.runningCount]).toEqual([0, 0]);
    }),
    { numRuns: 60 },
  );
}, 20_000);

test("WorkQueue.stateOf() says what a key waits for and since when", async () => {
  const { host, queue } = createQueue();
  expect(queue.stateOf("a/x")).toEqual({ kind: "idle", failures: 0 });
  queue.addAfter("a/x", 1_000);
  expect(queue.stateOf("a/x")).toEqual({ kind: "delayed", untilMs: 1_000, failures: 0 });
  await host.clock.run(1_000);
  expect(queue.stateOf("a/x")).toEqual({ kind: "ready", sinceMs: 1_000, failures: 0 });
  await host.clock.run(500);
  queue.take();
  expect(queue.longestRunning).toEqual({ key: "a/x", sinceMs: 1_500 });
  queue.addRateLimited("a/x");
  expect(queue.stateOf("a/x")).toEqual({ kind: "running", sinceMs: 1_500, failures: 1 });
});

test("a flow function that throws leaves the queue as it was", () => {
  let isBroken = true;
  const { queue } = createQueue({
    flowOf() {
      if (isBroken) throw new Error("an author's mistake");
      return "";
    },
  });
  expect(() => queue.add("a/x")).toThrow("an author's mistake");
  expect(queue.depth).toBe(0);
  isBroken = false;
  queue.add("a/x");
  isBroken = true;
  expect(() => queue.add("a/x", "high")).toThrow("an author's mistake");
  expect(queue.depth).toBe(1);
  expect(takeAll(queue)).toEqual(["a/x"]);
  expect(queue.depth).toBe(0);
});

test("a closed queue takes no more keys and knows only those that are being worked on, which may still be done", async () => {
  const { host, queue } = createQueue();
  queue.add("a/running");
  queue.take();
  queue.add("a/running");
  queue.add("a/waiting");
  await host.clock.run(5);
  queue.close();
  expect([queue.depth, queue.knownCount, queue.oldestWaitMs]).toEqual([0, 1, 0]);
  queue.add("a/late");
  queue.addAfter("a/later", 10);
  await host.clock.run(1_000);
  expect([queue.depth, queue.knownCount, queue.delayedCount]).toEqual([0, 1, 0]);
  expect(queue.isRunning("a/running")).toBe(true);
  queue.done("a/running");
  queue.close();
  expect([queue.knownCount, queue.runningCount, queue.take()]).toEqual([0, 0, undefined]);
});

test("a key that failed is known until it is well, also while nothing waits for it", () => {
  const { queue } = createQueue();
  queue.addRateLimited("a/x");
  queue.add("a/x");
  takeAll(queue);
  expect(queue.stateOf("a/x")).toEqual({ kind: "idle", failures: 1 });
  queue.forget("a/x");
  queue.forget("a/unknown");
  expect(queue.knownCount).toBe(0);
});

test("WorkQueue.longestRunning is the key that was taken first of those that are not done", async () => {
  const { host, queue } = createQueue();
  expect(queue.longestRunning).toBeUndefined();
  for (const key of ["a/1", "a/2", "a/3"]) {
    queue.add(key);
    queue.take();
    await host.clock.run(10);
  }
  expect(queue.longestRunning).toEqual({ key: "a/1", sinceMs: 0 });
  queue.done("a/1");
  queue.add("a/1");
  queue.take();
  expect(queue.longestRunning).toEqual({ key: "a/2", sinceMs: 10 });
});

test("only a key that was taken and is not done is running", () => {
  const { queue } = createQueue();
  expect(queue.isRunning("a/x")).toBe(false);
  queue.add("a/x");
  expect(queue.isRunning("a/x")).toBe(false);
  queue.take();
  expect(queue.isRunning("a/x")).toBe(true);
  queue.done("a/x");
  queue.done("a/x");
  expect([queue.isRunning("a/x"), queue.knownCount]).toEqual([false, 0]);
});

test("a worker of a queue is woken for each key that becomes ready, not for a delayed one", async () => {
  const { host, queue } = createQueue();
  let heard = 0;
  queue.onReady(() => heard++);
  queue.add("a/x");
  queue.addAfter("a/y", 1_000);
  expect(heard).toBe(1);
  await host.clock.run(1_000);
  expect(heard).toBe(2);
});

test("a key that waits cannot be done, and those that are worked on stay so", async () => {
  const { host, queue } = createQueue();
  for (const key of ["a/x", "a/y", "a/z"]) queue.add(key);
  queue.take();
  await host.clock.run(10);
  queue.take();
  queue.done("a/z");
  expect([queue.runningCount, queue.depth]).toEqual([2, 1]);
  expect(queue.longestRunning?.key).toBe("a/x");
  queue.done("a/x");
  expect([queue.runningCount, queue.longestRunning?.key]).toEqual([1, "a/y"]);
});
