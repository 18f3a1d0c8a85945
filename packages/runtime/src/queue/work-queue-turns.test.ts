import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createQueue, somePriority, takeAll } from "./work-queue.fixture.ts";
import type { WorkQueue } from "./work-queue.ts";

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

test("a key that changes again while it waits keeps its place", () => {
  const { queue } = createQueue();
  for (const key of ["a/x", "a/y", "a/x"]) queue.add(key);
  expect(takeAll(queue)).toEqual(["a/x", "a/y"]);
});

test("of what happened to a key while it was worked on the most urgent counts", () => {
  const { queue } = createQueue();
  queue.add("a/x");
  queue.take();
  queue.add("a/x", "high");
  queue.add("a/x", "low");
  queue.add("a/y");
  queue.done("a/x");
  expect(takeAll(queue)).toEqual(["a/x", "a/y"]);
});

test("a namespace that comes when another had its last turn is the last in the circle", () => {
  const { queue } = createQueue();
  for (const key of ["a/1", "a/2", "b/1", "c/1", "c/2"]) queue.add(key);
  expect([queue.take(), queue.take()]).toEqual(["a/1", "b/1"]);
  queue.add("d/1");
  expect(takeAll(queue)).toEqual(["c/1", "a/2", "d/1", "c/2"]);
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

test("a thousand keys of one namespace do not hold up the one of another", () => {
  const { queue } = createQueue();
  for (let i = 0; i < 1_000; i++) queue.add(`big/${i}`);
  queue.add("small/only");
  const first = [queue.take(), queue.take()];
  expect(first).toContain("small/only");
});

test("keys without a namespace share a turn as those of a namespace do", () => {
  const { queue } = createQueue();
  for (let i = 0; i < 100; i++) queue.add(`node-${i}`);
  queue.add("a/x");
  expect([queue.take(), queue.take()]).toContain("a/x");
});

test("tenants take turns by the function that says who they are", () => {
  const { queue } = createQueue({ flowOf: (key) => key.split("-")[1] ?? "" });
  for (let i = 0; i < 10; i++) queue.add(`${i}/x-big`);
  queue.add("9/y-small");
  expect(takeAll(queue).indexOf("9/y-small")).toBeLessThan(2);
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

const someKey = fc.record({
  namespace: fc.constantFrom("a", "b", "c"),
  name: fc.nat(40),
  priority: somePriority,
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
        // Each level is passed over at most nine times and a turn each of the others; three namespaces take
        // turns.
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
