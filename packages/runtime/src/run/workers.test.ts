import { systemClock } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { createQueue } from "../queue/work-queue.fixture.ts";
import { Workers } from "./workers.ts";

/** Workers whose keys are over when the test says so; `start` resolves when they have begun. */
function workersByHand(concurrency: number) {
  const { host, queue } = createQueue();
  const atWork = new Map<string, { readonly free: () => void; readonly end: () => void }>();
  const workers = new Workers({
    ...{ clock: host.clock, queue, concurrency },
    work(key, { release: free }) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => {
        atWork.delete(key);
        free();
        queue.done(key);
        resolve();
      };
      atWork.set(key, { free, end });
      return promise;
    },
  });
  const start = (): Promise<void> => {
    workers.start();
    return host.clock.settle();
  };
  return { workers, queue, atWork, start, clock: host.clock };
}

test("no more keys than there are workers are worked on at once, and each that is over makes room for the next", async () => {
  const { workers, queue, atWork, start } = workersByHand(2);
  for (const key of ["a", "b", "c", "d"]) queue.add(key);
  expect([...atWork.keys()]).toEqual([]);
  await start();
  expect([...atWork.keys()]).toEqual(["a", "b"]);
  atWork.get("a")?.end();
  expect([...atWork.keys()]).toEqual(["b", "c"]);
  expect(workers.activeCount).toBe(2);
});

test("a worker that was given to another key is not given away once more when its first key is over at last", async () => {
  const { workers, queue, atWork, start } = workersByHand(1);
  for (const key of ["hangs", "b", "c"]) queue.add(key);
  await start();
  const hanging = atWork.get("hangs");
  hanging?.free();
  expect([...atWork.keys()]).toEqual(["hangs", "b"]);
  hanging?.end();
  expect([...atWork.keys()]).toEqual(["b"]);
  expect(workers.activeCount).toBe(1);
});

test("stopped workers take no key, and have ended when the last of their keys is over", async () => {
  const { workers, queue, atWork, start } = workersByHand(2);
  for (const key of ["a", "b", "c"]) queue.add(key);
  await start();
  workers.stop();
  let hasEnded = false;
  const ended = workers.allEnded().then(() => (hasEnded = true));
  atWork.get("a")?.end();
  await Promise.resolve();
  expect([...atWork.keys()]).toEqual(["b"]);
  expect(hasEnded).toBe(false);
  atWork.get("b")?.end();
  await ended;
  expect(queue.depth).toBe(1);
});

test("any number of keys that are over at once follow each other without filling the stack", async () => {
  const { host, queue } = createQueue();
  let count = 0;
  const workers = new Workers({
    ...{ clock: host.clock, queue, concurrency: 1 },
    work(key, { release: free }) {
      count++;
      free();
      queue.done(key);
      return Promise.resolve();
    },
  });
  for (let i = 0; i < 20_000; i++) queue.add(`default/${i}`);
  workers.start();
  await host.clock.settle();
  await workers.allEnded();
  expect(count).toBe(20_000);
});

test("the turn of the event loop that starts them, which has made the caches complete, has no run in it", async () => {
  const { workers, queue, atWork, clock } = workersByHand(1);
  queue.add("a");
  workers.start();
  await Promise.resolve();
  expect(atWork.size).toBe(0);
  await clock.settle();
  expect([...atWork.keys()]).toEqual(["a"]);
});

test("workers that are stopped before their turn comes take no key", async () => {
  const { workers, queue, atWork, clock } = workersByHand(1);
  queue.add("a");
  workers.start();
  workers.stop();
  await clock.settle();
  expect(atWork.size).toBe(0);
});

test("a key that finds all workers idle is taken at once, however long they have been", async () => {
  const { queue, atWork, start, clock } = workersByHand(2);
  await start();
  await clock.run(60_000);
  queue.add("a");
  expect([...atWork.keys()]).toEqual(["a"]);
});

test("a key that is added again as soon as it is over, for ever, leaves the event loop its turns", async () => {
  const { queue } = createQueue();
  const stopAtMs = systemClock.monotonic() + 1_000;
  let runs = 0;
  const workers = new Workers({
    ...{ clock: systemClock, queue, concurrency: 1 },
    async work(key, { release: free }) {
      runs++;
      await Promise.resolve();
      free();
      // The test ends also when the loop has no turn.
      if (systemClock.monotonic() < stopAtMs) queue.add(key);
      queue.done(key);
    },
  });
  queue.add("hot");
  workers.start();
  await new Promise<void>((resolve) => systemClock.setTimer(resolve, 20));
  expect(systemClock.monotonic()).toBeLessThan(stopAtMs);
  expect(runs).toBeGreaterThan(10);
  workers.stop();
  await workers.allEnded();
});

test("such a key leaves other keys and a virtual clock's other work their turns", async () => {
  const { host, queue } = createQueue();
  const runs = { hot: 0, other: 0 };
  const workers = new Workers({
    ...{ clock: host.clock, queue, concurrency: 1 },
    async work(key, { release: free }) {
      free();
      if (key === "other") runs.other++;
      else if (++runs.hot === 1) host.clock.defer(() => workers.stop());
      else if (runs.hot < 100_000) queue.add("hot");
      queue.done(key);
    },
  });
  for (const key of ["first", "hot", "other"]) queue.add(key);
  workers.start();
  await host.clock.settle();
  await workers.allEnded();
  expect(runs.other).toBe(1);
  expect(runs.hot).toBeLessThan(10_000);
});
