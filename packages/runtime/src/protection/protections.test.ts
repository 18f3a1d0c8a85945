import type { KubeObject } from "@setpoint/apimachinery";
import { controller, requeueAfter, type Manager } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  Event,
  refusal,
  said,
  Wrapper,
  type ControllerWorld,
} from "../controller/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };
/** A loop that nothing has stopped ends here, so that its test fails and does not hang. */
const runawayMin = 2_000;

async function notesOf(world: ControllerWorld, reason: string): Promise<readonly string[]> {
  const events = (await world.client.listAll<KubeObject>(Event)).items;
  return events
    .filter((each) => Reflect.get(each, "reason") === reason)
    .map((each) => String(Reflect.get(each, "note")));
}

test("a reconcile that repeats itself without a reason is slowed down, and says so", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let runs = 0;
  const manager = world.start([
    controller(Candy, {
      reconcile: async () => {
        runs++;
        return runs < runawayMin ? requeueAfter(10, "impatient") : undefined;
      },
    }),
  ]);
  await world.run(60_000);
  const inTheFirstMinute = runs;
  await world.run(300_000);
  expect(inTheFirstMinute).toBeLessThan(140);
  expect(runs - inTheFirstMinute).toBeLessThan(10);
  expect(await notesOf(world, "HotLoop")).toEqual([expect.stringContaining("nothing but its own writes has changed")]);
  expect(said(await world.candy(), "Slowed")).toContain("True HotLoop");
  const why = await world.wait(manager.why({ kind: "Candy", ...key }));
  expect(why).toMatchObject({ state: "delayed", held: expect.stringContaining("nothing but its own writes") });
  expect(manager.metrics()).toContain('setpoint_protections_total{controller="candy",reason="HotLoop"} 1');
  expect(manager.metrics()).toContain('setpoint_slowed_keys{controller="candy"} 1');
});

test("a status that is never the same is a hot loop too", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let runs = 0;
  world.start([
    controller(Candy, {
      predicate: () => true,
      reconcile: async (_object, { status }) => {
        if (runs < runawayMin) await status({ wrappers: ++runs });
      },
    }),
  ]);
  await world.run(300_000);
  expect(runs).toBeLessThan(140);
  expect((await notesOf(world, "HotLoop")).length).toBe(1);
});

test("writes through the client of the context are the key's own, and a loop of them is noticed", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let runs = 0;
  world.start([
    controller(Candy, {
      predicate: () => true,
      reconcile: async (_object, { client }) => {
        if (++runs < runawayMin) await client.patch(Candy, key, { metadata: { annotations: { turn: String(runs) } } });
      },
    }),
  ]);
  await world.run(300_000);
  expect(runs).toBeLessThan(140);
  expect((await notesOf(world, "HotLoop")).length).toBe(1);
});

test("a child that is made and deleted in turn through the client of the context is a hot loop", async () => {
  await using world = createControllerWorld();
  const { metadata } = await world.client.create(Candy, candy("mint"));
  const owner = { apiVersion: "example.com/v1", kind: "Candy", name: "lolly", uid: metadata.uid, controller: true };
  let runs = 0;
  world.start([
    controller(Candy, {
      owns: [Wrapper],
      reconcile: async (_object, { client, owned }) => {
        if (++runs >= runawayMin) return;
        if (owned(Wrapper).length > 0) await client.delete(Wrapper, { name: "mint", namespace: "default" });
        else
          await client.create(
            Wrapper,
            Wrapper({ name: "mint", namespace: "default", ownerReferences: [owner], data: {} }),
          );
      },
    }),
  ]);
  await world.run(300_000);
  expect(runs).toBeLessThan(200);
  expect((await notesOf(world, "HotLoop")).length).toBe(1);
});

test("what a run writes through the client of the context, it reads", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const read: unknown[] = [];
  const manager = world.start([
    controller(Candy, {
      owns: [Wrapper],
      reconcile: async (_object, { client, get }) => {
        if (get(Wrapper, "mint") !== undefined) return;
        await client.create(Wrapper, Wrapper({ name: "mint", namespace: "default", data: { sweet: "yes" } }));
        read.push(get(Wrapper, "mint")?.data);
      },
    }),
  ]);
  await world.settle(manager);
  expect(read).toEqual([{ sweet: "yes" }]);
});

test("a change from outside releases a key that was slowed down, at once", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const seen: string[] = [];
  const manager = world.start([
    controller(Candy, {
      reconcile: async ({ spec }) => {
        seen.push(spec.flavors.join());
        return spec.flavors.includes("mint") ? requeueAfter(10, "impatient") : undefined;
      },
    }),
  ]);
  await world.run(120_000);
  await world.client.patch(Candy, key, { spec: { flavors: ["lime"] } });
  await world.run(1_000);
  expect(seen.at(-1)).toBe("lime");
  expect(said(await world.candy(), "Slowed")).toContain("False AsUsual");
  expect(manager.metrics()).toContain('setpoint_slowed_keys{controller="candy"} 0');
});

test("many runs for many changes are no hot loop", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let runs = 0;
  const manager = world.start([
    controller(Candy, { reconcile: async (_object, { status }) => status({ wrappers: ++runs }) }),
  ]);
  for (let i = 0; i < 500; i++) {
    await world.client.patch(Candy, key, { spec: { flavors: [`f${i}`] } });
    await world.run(50);
  }
  await world.settle(manager);
  expect(runs).toBeGreaterThanOrEqual(500);
  expect(await notesOf(world, "HotLoop")).toEqual([]);
});

const wrap = controller(Candy, {
  owns: { wrappers: Wrapper },
  desired: ({ spec }) => ({ children: spec.flavors.map((flavor) => Wrapper({ name: flavor, data: { flavor } })) }),
});

/** Somebody who wants the child otherwise, and sees to it whenever it changes. */
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

test("a fight over a field is noticed, slowed down, and told with the name of the other", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  const rounds = await quarrel(world, manager, 120_000);
  expect(rounds).toBeGreaterThanOrEqual(5);
  expect(rounds).toBeLessThan(12);
  expect(await notesOf(world, "FieldFight")).toEqual([
    'ConfigMap "mint" is set back and forth: "salt-lover" changes again and again what this controller applies; one of the two must let go',
  ]);
  expect(said(await world.candy(), "Slowed")).toContain("True FieldFight");
  expect(manager.metrics()).toContain('setpoint_protections_total{controller="candy",reason="FieldFight"} 1');

  await world.run(900_000);
  expect(said(await world.candy(), "Slowed")).toContain("False AsUsual");
  expect((await world.client.get(Wrapper, { name: "mint", namespace: "default" })).data).toEqual({ flavor: "mint" });
});

test("a fight is noticed also when what is applied is a changed copy of what was read", async () => {
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
  expect(await notesOf(world, "FieldFight")).toEqual([expect.stringContaining('"salt-lover" changes again and again')]);
});

test("a change of the spec is not made to wait for a fight", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  await quarrel(world, manager, 20_000);
  await world.client.patch(Candy, key, { spec: { flavors: ["mint", "lime"] } });
  await world.run(500);
  expect((await world.client.get(Wrapper, { name: "lime", namespace: "default" })).data).toEqual({ flavor: "lime" });
});

test("somebody who changes a child back once a while is no fight", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const manager = world.start([wrap]);
  await world.settle(manager);
  for (let i = 0; i < 10; i++) {
    await world.client.patch(Wrapper, { name: "mint", namespace: "default" }, { data: { flavor: "salt" } });
    await world.run(300_000);
  }
  expect(await notesOf(world, "FieldFight")).toEqual([]);
});

test("a write that the server refuses again and again is no fight: it takes nothing from anybody", async () => {
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
  expect(await notesOf(world, "FieldFight")).toEqual([]);
});

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
