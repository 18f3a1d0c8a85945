import { expect, test } from "vitest";
import { createQueue } from "../queue/work-queue.fixture.ts";
import { Workers } from "./workers.ts";

/** Workers whose keys are over when the test says so; `start` resolves when they have begun. */
function workersByHand(concurrency: number) {
  const { host, queue } = createQueue();
  const atWork = new Map<string, { readonly free: () => void; readonly end: () => void }>();
  const workers = new Workers({
    ...{ clock: host.clock, queue, concurrency },
    work(key, free) {
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
    work(key, free) {
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
