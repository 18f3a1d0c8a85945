import { sleep } from "@setpoint/host";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, noting } from "./controller-world.fixture.ts";

test("a run that takes too long is aborted and retried", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const ends: string[] = [];
  const { definition } = noting(world, {
    timeoutMs: 1_000,
    reconcile: async (_object, { signal }) => {
      if (ends.length === 1) return;
      await sleep(world.host.clock, 60_000, signal).catch((error: Error) => ends.push(error.message));
      signal.throwIfAborted();
    },
  });
  const manager = world.start([definition]);
  await world.run(900);
  expect(ends).toEqual([]);
  await world.run(2_000);
  expect(ends).toEqual(["Cannot continue the reconcile: it took 1000 ms, the limit of timeoutMs"]);
  await world.settle(manager);
  expect(manager.metrics()).toContain('controller_runtime_reconcile_timeouts_total{controller="candy"} 1');
});

test("a run that ignores its time does not hold up other keys for ever, and its own key stays with it", async () => {
  await using world = createControllerWorld();
  for (const name of ["a", "b"]) await world.client.create(Candy, { ...candy(), metadata: { name, namespace: "n" } });
  const begun: string[] = [];
  const release = Promise.withResolvers<void>();
  const { definition } = noting(world, {
    concurrency: 1,
    timeoutMs: 1_000,
    reconcile: async ({ metadata }) => {
      begun.push(metadata.name);
      if (begun.length === 1) await release.promise;
    },
  });
  const manager = world.start([definition]);
  await world.run(5_900);
  const [stuck] = begun;
  expect(begun.length).toBe(1);
  await world.run(60_000);
  expect(begun.length).toBe(2);
  manager.enqueue("candy", { name: stuck ?? "", namespace: "n" });
  await world.run(60_000);
  expect(begun.filter((name) => name === stuck).length).toBe(1);
  release.resolve();
  await world.settle(manager);
  expect(begun.filter((name) => name === stuck).length).toBe(2);
});

test("workers in use are counted at a scrape; one that was given to other keys is free", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition } = noting(world, { timeoutMs: 1_000, reconcile: () => sleep(world.host.clock, 30_000) });
  const manager = world.start([definition]);
  const inUse = (count: number): string => `controller_runtime_active_workers{controller="candy"} ${count}\n`;
  await world.run(5_000);
  expect(manager.metrics()).toContain(inUse(1));
  await world.run(5_000);
  expect(manager.metrics()).toContain(inUse(0));
  await world.run(60_000);
  expect(manager.metrics()).toContain(inUse(0));
});
