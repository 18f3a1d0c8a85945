import type { Clock, Timer } from "@setpoint/host";
import { createMetrics } from "@setpoint/host/system";
import { simulatedHost } from "@setpoint/host/simulated";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Priority } from "./priority.ts";
import { WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function createQueue(options: Partial<WorkQueueOptions> = {}) {
  const host = simulatedHost(1);
  const metrics = createMetrics();
  return { host, metrics, queue: new WorkQueue({ ...host, metrics, name: "test", ...options }) };
}

function takeAll(queue: WorkQueue): readonly string[] {
  const taken: string[] = [];
  for (let key = queue.take(); key !== undefined; key = queue.take()) {
    taken.push(key);
    queue.done(key);
  }
  return taken;
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

test("a change goes before what was there at the start", () => {
  const { queue } = createQueue();
  for (let i = 0; i < 100; i++) queue.add(`a/old-${i}`, "low");
  queue.add("a/changed");
  expect(queue.take()).toBe("a/changed");
});

test("a key that waits becomes more urgent when it changes, and never less", () => {
  const { queue } = createQueue();
  queue.add("a/x", "low");
  queue.add("a/y", "low");
  queue.add("a/y");
  queue.add("a/y", "low");
  expect(takeAll(queue)).toEqual(["a/y", "a/x"]);
});

test("a retry is as urgent as what it retries", async () => {
  const { host, queue } = createQueue();
  queue.add("a/failing", "low");
  queue.take();
  queue.addRateLimited("a/failing");
  queue.done("a/failing");
  await host.clock.run(10);
  queue.add("a/changed");
  expect(takeAll(queue)).toEqual(["a/changed", "a/failing"]);
});

test("the longer less urgent keys have waited the larger their share of the turns", async () => {
  const { host, queue } = createQueue();
  const shareOfLow = (): number => {
    let low = 0;
    for (let i = 0; i < 300; i++) {
      queue.add(`a/change-${i}`);
      const key = queue.take() ?? "";
      queue.done(key);
      if (key.startsWith("a/old")) low++;
    }
    takeChanges(queue);
    return low / 300;
  };
  await host.clock.run(100_000);
  for (let i = 0; i < 1_000; i++) queue.add(`a/old-${i}`, "low");
  const atFirst = shareOfLow();
  await host.clock.run(30_000);
  const later = shareOfLow();
  await host.clock.run(30_000);
  const atLast = shareOfLow();
  expect(atFirst).toBeGreaterThan(0.05);
  expect(later).toBeGreaterThan(atFirst);
  expect(atLast).toBeGreaterThan(later);
  expect(atLast).toBeLessThanOrEqual(0.5);
});

/** Ends the changes that are left over; what is taken of the others meanwhile is put back. */
function takeChanges(queue: WorkQueue): void {
  for (let i = 0; i < 400; i++) {
    const key = queue.take();
    if (key === undefined) return;
    queue.done(key);
    if (key.startsWith("a/old")) queue.add(key, "low");
  }
}

const someKey = fc.record({
  namespace: fc.constantFrom("a", "b", "c"),
  name: fc.nat(40),
  priority: fc.constantFrom<Priority>("high", "normal", "low"),
});

test("nothing starves: under any stream of urgent keys each waiting key has its turn within a bound", () => {
  fc.assert(
    fc.property(
      fc.array(someKey, { minLength: 1, maxLength: 60 }),
      fc.array(someKey, { maxLength: 20 }),
      (old, rush) => {
        const { queue } = createQueue();
        for (const { namespace, name, priority } of old) queue.add(`${namespace}/old-${name}`, priority);
        const waiting = new Set(old.map(({ namespace, name }) => `${namespace}/old-${name}`));
        // Each level is passed over at most nine times and a turn each of the others; three namespaces take turns.
        const turnsMax = waiting.size * 3 * 12;
        for (let turn = 0; turn < turnsMax && waiting.size > 0; turn++) {
          // As many urgent keys arrive as are taken, for ever.
          for (const { namespace, name } of rush) queue.add(`${namespace}/rush-${turn}-${name}`, "high");
          queue.add(`d/more-${turn}`, "high");
          const key = queue.take() ?? "";
          queue.done(key);
          waiting.delete(key);
        }
        expect([...waiting]).toEqual([]);
      },
    ),
  );
});

test("whatever happens to keys, each that was added is given out once for it, and none twice at a time", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key: fc.nat(9), priority: someKey.map((each) => each.priority) }),
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

test("tenants take turns by the function that says who they are", () => {
  const { queue } = createQueue({ flowOf: (key) => key.split("-")[1] ?? "" });
  for (let i = 0; i < 10; i++) queue.add(`${i}/x-big`);
  queue.add("9/y-small");
  expect(takeAll(queue).indexOf("9/y-small")).toBeLessThan(2);
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

test("metrics say by priority how much waits, and how long the work in progress takes", async () => {
  const { host, metrics, queue } = createQueue();
  queue.add("a/x");
  queue.add("a/y", "low");
  queue.add("a/z", "low");
  queue.take();
  await host.clock.run(5_000);
  const text = metrics.expose();
  expect(text).toContain('workqueue_depth{controller="test",name="test",priority="0"} 0\n');
  expect(text).toContain('workqueue_depth{controller="test",name="test",priority="-100"} 2\n');
  expect(text).toContain('workqueue_adds_total{controller="test",name="test"} 3\n');
  expect(text).toContain('workqueue_unfinished_work_seconds{controller="test",name="test"} 5\n');
  expect(text).toContain('workqueue_longest_running_processor_seconds{controller="test",name="test"} 5\n');
  queue.addRateLimited("a/x");
  queue.done("a/x");
  expect(metrics.expose()).toContain('workqueue_work_duration_seconds_sum{controller="test",name="test"} 5\n');
  expect(metrics.expose()).toContain('workqueue_retries_total{controller="test",name="test"} 1\n');
});

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

test("a delay of nothing adds at once", () => {
  const { queue } = createQueue();
  queue.addAfter("a/x", 0);
  expect(takeAll(queue)).toEqual(["a/x"]);
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

test("WorkQueue.oldestWaitMs is the wait of the key that has been ready for longest, of whatever priority", async () => {
  const { host, queue } = createQueue();
  await host.clock.run(1_000);
  expect(queue.oldestWaitMs).toBe(0);
  queue.add("a/low", "low");
  await host.clock.run(200);
  queue.add("a/x");
  await host.clock.run(50);
  expect(queue.oldestWaitMs).toBe(250);
  queue.take();
  queue.take();
  expect(queue.oldestWaitMs).toBe(0);
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

test("a delay longer than a timer can count is waited for to its end, in parts", async () => {
  const host = simulatedHost(1);
  const clock = countingClock(host.clock);
  const queue = new WorkQueue({ ...host, clock, metrics: createMetrics(), name: "test" });
  const delayMs = 2 ** 32;
  queue.addAfter("a/x", delayMs);
  await host.clock.run(delayMs - 1);
  expect(queue.depth).toBe(0);
  await host.clock.run(1);
  expect(queue.take()).toBe("a/x");
  expect(clock.asked).toEqual([2 ** 31 - 1, 2 ** 31 - 1, 2]);
});

test("a queue has one timer while keys are delayed, and none when it is closed or nothing is", () => {
  const host = simulatedHost(1);
  const clock = countingClock(host.clock);
  const queue = new WorkQueue({ ...host, clock, metrics: createMetrics(), name: "test" });
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

test("of a delay and a longer one the first stays as it is, with the urgency that it had", async () => {
  const { host, queue } = createQueue();
  queue.addAfter("a/x", 100, "low");
  queue.addAfter("a/x", 100, "high");
  await host.clock.run(100);
  queue.add("a/y");
  expect(takeAll(queue)).toEqual(["a/y", "a/x"]);
});

test("metrics tell how long keys waited and were worked on", async () => {
  const { host, metrics, queue } = createQueue();
  await host.clock.run(10_000);
  queue.add("a/x");
  await host.clock.run(2_000);
  queue.take();
  await host.clock.run(3_000);
  queue.done("a/x");
  const text = metrics.expose();
  expect(text).toContain('workqueue_queue_duration_seconds_sum{controller="test",name="test"} 2\n');
  expect(text).toContain('workqueue_queue_duration_seconds_count{controller="test",name="test"} 1\n');
  expect(text).toContain('workqueue_work_duration_seconds_sum{controller="test",name="test"} 3\n');
});

test("a closed queue leaves the metrics of its name to another", () => {
  const { host, metrics, queue } = createQueue();
  const other = new WorkQueue({ ...host, metrics, name: "test" });
  queue.add("a/x");
  other.close();
  expect(metrics.expose()).toContain('workqueue_depth{controller="test",name="test",priority="0"} 1\n');
});

test("less urgent keys are passed over nine times while they are fresh; those that have waited a minute take turns", async () => {
  const { host, queue } = createQueue();
  for (let i = 0; i < 100; i++) {
    queue.add(`a/high-${i}`, "high");
    queue.add(`a/normal-${i}`);
    queue.add(`a/low-${i}`, "low");
  }
  const turns = (count: number): string =>
    Array.from({ length: count }, () => queue.take()?.slice(2, 3) ?? "").join("");
  expect(turns(22)).toBe("hhhhhhhhhnlhhhhhhhhnhl");
  await host.clock.run(60_000);
  expect(turns(12)).toBe("hnhlhnhlhnhl");
});

test("keys without a namespace share a turn as those of a namespace do", () => {
  const { queue } = createQueue();
  for (let i = 0; i < 100; i++) queue.add(`node-${i}`);
  queue.add("a/x");
  expect([queue.take(), queue.take()]).toContain("a/x");
});

test("a key that becomes more urgent leaves the others in their order, wherever it stood", () => {
  for (const moved of ["a/1", "a/2", "a/3"]) {
    const { queue } = createQueue();
    for (const key of ["a/1", "a/2", "a/3"]) queue.add(key, "low");
    queue.add(moved, "high");
    queue.add("a/4", "low");
    const others = ["a/1", "a/2", "a/3"].filter((key) => key !== moved);
    expect(takeAll(queue)).toEqual([moved, ...others, "a/4"]);
  }
});

test.each(["a/1", "a/2"])(
  "WorkQueue.oldestWaitMs knows those that were added after %s became more urgent",
  async (moved) => {
    const { host, queue } = createQueue();
    queue.add("a/1", "low");
    queue.add("a/2", "low");
    if (moved === "a/2") queue.add(moved, "high");
    await host.clock.run(30);
    queue.add("a/3", "low");
    if (moved === "a/1") queue.add(moved, "high");
    await host.clock.run(10);
    expect([queue.take(), queue.take()]).toContain(moved);
    expect(queue.oldestWaitMs).toBe(10);
  },
);

test("WorkQueue.oldestWaitMs forgets a key that became more urgent between others", async () => {
  const { host, queue } = createQueue();
  for (const key of ["a/1", "a/2", "a/3"]) {
    queue.add(key, "low");
    await host.clock.run(10);
  }
  queue.add("a/2", "high");
  expect([queue.take(), queue.take()]).toEqual(["a/2", "a/1"]);
  expect(queue.oldestWaitMs).toBe(10);
});

test("whoever works on a queue hears of each key that becomes ready, not of one that must wait", async () => {
  const { host, queue } = createQueue();
  let heard = 0;
  queue.onReady(() => heard++);
  queue.add("a/x");
  queue.addAfter("a/y", 1_000);
  expect(heard).toBe(1);
  await host.clock.run(1_000);
  expect(heard).toBe(2);
});
