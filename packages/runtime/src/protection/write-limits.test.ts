import { controller, type ControllerDefinition, type Manager, type WriteLimits } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  notesOf,
  said,
  Wrapper,
  type ControllerWorld,
} from "../run/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

const many = Array.from({ length: 40 }, (_, i) => `f${String(i).padStart(2, "0")}`);

async function contents(world: ControllerWorld): Promise<readonly (string | undefined)[]> {
  return (await world.client.listAll(Wrapper)).items.map(({ data }) => data["data"]);
}

const count = async (world: ControllerWorld): Promise<number> => (await contents(world)).length;
const changed = async (world: ControllerWorld): Promise<number> =>
  (await contents(world)).filter((data) => data === "b").length;

function limited(limits: WriteLimits, data = "a"): ControllerDefinition {
  return controller(Candy, {
    limits,
    owns: { wrappers: Wrapper },
    desired: ({ spec }) => ({ children: spec.flavors.map((name) => Wrapper({ name, data: { data } })) }),
  });
}

/** A manager that has made forty children under these limits. */
async function startWithMany(world: ControllerWorld, limits: WriteLimits = {}): Promise<Manager> {
  await world.client.create(Candy, candy(...many));
  const manager = world.start([limited(limits)]);
  await world.settle(manager);
  return manager;
}

test("deletions beyond the budget wait until it has refilled, and the object says so", async () => {
  await using world = createControllerWorld();
  const manager = await startWithMany(world, { deletesPerMinute: 10 });
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
  await startWithMany(world, { deletesPerMinute: 5 });
  await world.client.patch(Candy, key, { spec: { flavors: [] } });
  await world.run(1_000);
  expect(await count(world)).toBe(35);
  await world.client.patch(Candy, key, { metadata: { annotations: { "setpoint.dev/allow-writes": "true" } } });
  await world.run(1_000);
  expect(await count(world)).toBe(0);
});

test("a new version that wants every child otherwise changes only a share of them at first", async () => {
  await using world = createControllerWorld();
  const old = await startWithMany(world);
  await world.wait(old.stop());
  world.start([limited({ childrenChangedShare: 0.25 }, "b")]);
  await world.run(1_000);
  expect(await changed(world)).toBe(10);
  expect(said(await world.candy(), "Stalled")).toContain("25 % of its children in ten minutes");
  await world.run(600_000);
  expect(await changed(world)).toBeLessThanOrEqual(21);
  await world.run(3_600_000);
  expect(await changed(world)).toBe(40);
});

test("a changed copy of what was read counts as a change, not as a new child", async () => {
  await using world = createControllerWorld();
  const old = await startWithMany(world);
  await world.wait(old.stop());
  world.start([
    controller(Candy, {
      limits: { childrenChangedShare: 0.25 },
      owns: [Wrapper],
      reconcile: async (_candy, { children, apply }) => {
        for (const each of children.list(Wrapper)) await apply({ ...each, data: { data: "b" } });
      },
    }),
  ]);
  await world.run(1_000);
  expect(await changed(world)).toBe(10);
  expect(said(await world.candy(), "Stalled")).toContain("25 % of its children in ten minutes");
});

test("making children is not limited", async () => {
  await using world = createControllerWorld();
  await startWithMany(world, { childrenChangedShare: 0.01, deletesPerMinute: 1 });
  expect(await count(world)).toBe(40);
});
