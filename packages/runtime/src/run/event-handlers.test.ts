import { changed, every, watching } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, noting, Wrapper } from "./controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

test("a predicate that looks at the spec alone does not hide a deletion from the cleanup", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { definition } = noting(world, { predicate: changed("spec"), cleanup: async () => {} });
  const manager = world.start([definition]);
  await world.settle(manager);
  await world.client.delete(Candy, key);
  await world.settle(manager);
  expect((await world.client.listAll(Candy)).items).toEqual([]);
});

test("functions of the author that throw in a handler lose no event, neither for them nor for other controllers", async () => {
  await using world = createControllerWorld();
  const broken = (): never => {
    throw new Error("an author's mistake");
  };
  const bad = noting(world, {
    name: "bad",
    ...{ predicate: broken, fairness: broken, priority: broken },
    watches: [watching(Wrapper, () => [key], { predicate: broken })],
  });
  const good = noting(world, { name: "good", watches: [watching(Wrapper, () => [key])] });
  await world.client.create(Candy, candy("mint"));
  await world.client.create(Wrapper, Wrapper({ name: "w", namespace: "default", data: { a: "1" } }));
  const manager = world.start([bad.definition, good.definition]);
  await world.settle(manager);
  for (let i = 0; i < 5; i++) {
    const before = [bad.runsMs.length, good.runsMs.length];
    if (i % 2 === 0) await world.client.patch(Candy, key, { spec: { flavors: [`f${i}`] } });
    else await world.client.patch(Wrapper, { name: "w", namespace: "default" }, { data: { a: `v${i}` } });
    await world.run(10);
    await world.settle(manager);
    expect([bad.runsMs.length, good.runsMs.length]).toEqual(before.map((count) => count + 1));
  }
  const errors = world.host.lines.filter(({ level }) => level === "error").map(({ fields }) => fields);
  expect(errors.map((fields) => `${String(fields["function"])} of ${String(fields["resource"])}`).toSorted()).toEqual([
    ...["fairness of candies", "predicate of candies", "priority of candies", "watch predicate of configmaps"],
  ]);
});

test("sources wake keys while the controller runs, and end with it", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const { runsMs, definition } = noting(world, { sources: [every(10_000)] });
  const manager = world.start([definition]);
  await world.settle(manager);
  await world.run(35_000);
  expect(runsMs.length).toBe(4);
  await world.wait(manager.stop());
  await world.run(60_000);
  expect(runsMs.length).toBe(4);
});

test("a source that fails shows in health as a warning, and the process stays ready", async () => {
  await using world = createControllerWorld();
  const broken = { name: "broker", run: () => Promise.reject(new Error("connection refused")) };
  const manager = world.start([noting(world, { sources: [broken] }).definition]);
  await world.settle(manager);
  await world.run(100);
  const { ok, checks } = manager.readyz();
  expect(ok).toBe(true);
  expect(checks.find(({ name }) => name === "source broker of candy")).toMatchObject({
    ok: false,
    message: "1 failures in a row, the last: connection refused",
  });
  expect(manager.metrics()).toContain('setpoint_source_up{controller="candy",source="broker"} 0');
});

test("an owner that a child no longer names is woken too", async () => {
  await using world = createControllerWorld();
  for (const name of ["first", "second"])
    await world.client.create(Candy, { ...candy(), metadata: { name, namespace: "default" } });
  const woken: string[] = [];
  const { definition } = noting(world, {
    owns: [Wrapper],
    reconcile: async ({ metadata }) => void woken.push(metadata.name),
  });
  const manager = world.start([definition]);
  await world.settle(manager);
  const owner = async (name: string) => ({
    ...{ apiVersion: "example.com/v1", kind: "Candy", name, controller: true },
    uid: (await world.candy(name)).metadata.uid ?? "",
  });
  const child = { name: "w", namespace: "default" };
  await world.client.create(Wrapper, {
    ...Wrapper({ name: "w", namespace: "default", data: {} }),
    metadata: { ...child, ownerReferences: [await owner("first")] },
  });
  await world.settle(manager);
  woken.length = 0;
  await world.client.patch(Wrapper, child, { metadata: { ownerReferences: [await owner("second")] } });
  await world.settle(manager);
  expect(woken.toSorted()).toEqual(["first", "second"]);
});

test("a watched kind's predicate keeps changes that do not matter from waking anybody", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  await world.client.create(Wrapper, Wrapper({ name: "w", namespace: "default", data: { a: "1" } }));
  const { runsMs, definition } = noting(world, {
    watches: [watching(Wrapper, () => [key], { predicate: changed("data") })],
  });
  const manager = world.start([definition]);
  await world.settle(manager);
  const before = runsMs.length;
  await world.client.patch(Wrapper, { name: "w", namespace: "default" }, { metadata: { labels: { x: "y" } } });
  await world.settle(manager);
  expect(runsMs.length).toBe(before);
  await world.client.patch(Wrapper, { name: "w", namespace: "default" }, { data: { a: "2" } });
  await world.settle(manager);
  expect(runsMs.length).toBe(before + 1);
});
