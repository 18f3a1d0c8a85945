import { controller } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  notesOf,
  said,
  Wrapper,
  type ControllerWorld,
} from "../controller/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

const many = Array.from({ length: 40 }, (_, i) => `f${String(i).padStart(2, "0")}`);
const count = async (world: ControllerWorld): Promise<number> => (await world.client.listAll(Wrapper)).items.length;

function limited(limits: { readonly deletesPerMinute?: number; readonly childrenChangedShare?: number }, data = "a") {
  return controller(Candy, {
    limits,
    owns: { wrappers: Wrapper },
    desired: ({ spec }) => ({ children: spec.flavors.map((name) => Wrapper({ name, data: { data } })) }),
  });
}

test("deletions beyond the budget wait until it has refilled, and the object says so", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy(...many));
  const manager = world.start([limited({ deletesPerMinute: 10 })]);
  await world.settle(manager);
  await world.client.patch(Candy, key, { spec: { flavors: [] } });
  await world.run(1_000);
  expect(await count(world)).toBe(30);
  expect(said(await world.candy(), "Stalled")).toContain(
    'True WriteBudget: Cannot delete ConfigMap of Candy "lolly": controller "candy" must wait, its limit of 10 deletions a minute is reached',
  );
  expect((await notesOf(world, "WriteBudget")).length).toBe(1);
  expect(manager.metrics()).toContain('setpoint_write_budget_refusals_total{controller="candy",verb="delete"}');
  await world.run(60_000);
  expect(await count(world)).toBeLessThanOrEqual(21);
  await world.run(180_000);
  expect(await count(world)).toBe(0);
  expect(said(await world.candy(), "Stalled")).toContain("False");
});

test("an annotation lets all deletions of an object through", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy(...many));
  const manager = world.start([limited({ deletesPerMinute: 5 })]);
  await world.settle(manager);
  await world.client.patch(Candy, key, { spec: { flavors: [] } });
  await world.run(1_000);
  expect(await count(world)).toBe(35);
  await world.client.patch(Candy, key, { metadata: { annotations: { "setpoint.dev/allow-writes": "true" } } });
  await world.run(1_000);
  expect(await count(world)).toBe(0);
});

test("a new version that wants every child otherwise changes only a share of them at first", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy(...many));
  const old = world.start([limited({})]);
  await world.settle(old);
  await world.wait(old.stop());
  world.start([limited({ childrenChangedShare: 0.25 }, "b")]);
  await world.run(1_000);
  const changed = async (): Promise<number> =>
    (await world.client.listAll(Wrapper)).items.filter(({ data }) => data["data"] === "b").length;
  expect(await changed()).toBe(10);
  expect(said(await world.candy(), "Stalled")).toContain("25 % of its children in ten minutes");
  await world.run(600_000);
  expect(await changed()).toBeLessThanOrEqual(21);
  await world.run(3_600_000);
  expect(await changed()).toBe(40);
});

test("a changed copy of what was read counts as a change, not as a new child", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy(...many));
  const old = world.start([limited({})]);
  await world.settle(old);
  await world.wait(old.stop());
  world.start([
    controller(Candy, {
      limits: { childrenChangedShare: 0.25 },
      owns: [Wrapper],
      reconcile: async (_candy, { owned, apply }) => {
        for (const each of owned(Wrapper)) await apply({ ...each, data: { data: "b" } });
      },
    }),
  ]);
  await world.run(1_000);
  const { items } = await world.client.listAll(Wrapper);
  expect(items.filter(({ data }) => data["data"] === "b").length).toBe(10);
  expect(said(await world.candy(), "Stalled")).toContain("25 % of its children in ten minutes");
});

test("making children is not limited", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy(...many));
  const manager = world.start([limited({ childrenChangedShare: 0.01, deletesPerMinute: 1 })]);
  await world.settle(manager);
  expect(await count(world)).toBe(40);
});
