import { controller, type Manager } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  notesOf,
  refusal,
  said,
  Wrapper,
  type ControllerWorld,
} from "../run/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };

const wrap = controller(Candy, {
  owns: { wrappers: Wrapper },
  desired: ({ spec }) => ({ children: spec.flavors.map((flavor) => Wrapper({ name: flavor, data: { flavor } })) }),
});

/** Another controller, which sets its own value whenever the child changes. */
async function quarrel(world: ControllerWorld, manager: Manager, forMs: number): Promise<number> {
  const mint = { name: "mint", namespace: "default" };
  let rounds = 0;
  for (let passedMs = 0; passedMs < forMs; passedMs += 500) {
    const child = await world.client.get(Wrapper, mint);
    if (child.data["flavor"] === "mint") {
      await world.client.patch(Wrapper, mint, { data: { flavor: "salt" } }, { fieldManager: "salt-lover" });
      rounds++;
    }
    await world.run(500);
  }
  await world.settle(manager);
  return rounds;
}

test("a conflict over a field is noticed, slowed down, and reported with the name of the other manager", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  const rounds = await quarrel(world, manager, 120_000);
  expect(rounds).toBeGreaterThanOrEqual(5);
  expect(rounds).toBeLessThan(12);
  expect(await notesOf(world, "FieldManagerConflict")).toEqual([
    'Conflicting field managers: "salt-lover" changes again and again what this controller applies to ConfigMap "mint"; remove the fields from one of them',
  ]);
  expect(said(await world.candy(), "Slowed")).toContain("True FieldManagerConflict");
  expect(manager.metrics()).toContain('setpoint_protections_total{controller="candy",reason="FieldManagerConflict"} 1');

  await world.run(900_000);
  expect(said(await world.candy(), "Slowed")).toContain("False AsUsual");
  expect((await world.client.get(Wrapper, { name: "mint", namespace: "default" })).data).toEqual({ flavor: "mint" });
});

test("a conflict is noticed also when what is applied is a changed copy of what was read", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const copying = controller(Candy, {
    owns: [Wrapper],
    reconcile: async ({ spec }, { get, apply }) => {
      for (const flavor of spec.flavors)
        await apply({ ...(get(Wrapper, flavor) ?? Wrapper({ name: flavor, data: {} })), data: { flavor } });
    },
  });
  const manager = world.start([copying]);
  await world.settle(manager);
  await quarrel(world, manager, 120_000);
  expect(await notesOf(world, "FieldManagerConflict")).toEqual([
    expect.stringContaining('"salt-lover" changes again and again'),
  ]);
});

test("a change of the spec is not made to wait for a conflict", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  await quarrel(world, manager, 20_000);
  await world.client.patch(Candy, key, { spec: { flavors: ["mint", "lime"] } });
  await world.run(500);
  expect((await world.client.get(Wrapper, { name: "lime", namespace: "default" })).data).toEqual({ flavor: "lime" });
});

test("another client that reverts a child now and then is no conflict", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  for (let i = 0; i < 10; i++) {
    await world.client.patch(Wrapper, { name: "mint", namespace: "default" }, { data: { flavor: "salt" } });
    await world.run(300_000);
  }
  expect(await notesOf(world, "FieldManagerConflict")).toEqual([]);
});

test("a write that the server refuses again and again is no conflict, because it changes nothing", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  let refused = 0;
  world.refuse = ({ method, path }) =>
    method === "PATCH" && path.endsWith("/configmaps/mint") && refused++ < 8
      ? refusal(409, "Conflict", "the object has been modified")
      : undefined;
  const mint = { name: "mint", namespace: "default" };
  await world.client.patch(Wrapper, mint, { data: { flavor: "salt" } });
  await world.run(120_000);
  expect(refused).toBeGreaterThan(8);
  expect((await world.client.get(Wrapper, mint)).data).toEqual({ flavor: "mint" });
  expect(await notesOf(world, "FieldManagerConflict")).toEqual([]);
});
