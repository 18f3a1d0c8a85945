import { controller, requeueAfter, type ReconcileContext } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, notesOf, said, Wrapper } from "../run/controller-world.fixture.ts";

const key = { name: "lolly", namespace: "default" };
/** A loop that nothing has stopped ends here, so that its test fails and does not hang. */
const runawayMin = 2_000;

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
  expect(await notesOf(world, "ReconcileLoop")).toEqual([
    expect.stringContaining("nothing but its own writes has changed"),
  ]);
  expect(said(await world.candy(), "Slowed")).toContain("True ReconcileLoop");
  const why = await world.wait(manager.why({ kind: "Candy", ...key }));
  expect(why).toMatchObject({ state: "delayed", held: expect.stringContaining("nothing but its own writes") });
  expect(manager.metrics()).toContain('setpoint_protections_total{controller="candy",reason="ReconcileLoop"} 1');
  expect(manager.metrics()).toContain('setpoint_slowed_keys{controller="candy"} 1');
});

/** What becomes in five minutes of an object whose every run may give it a reason for another one. */
async function fiveMinutesOf(run: (turn: number, context: ReconcileContext) => Promise<unknown>) {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  let runs = 0;
  const definition = controller(Candy, {
    owns: [Wrapper],
    predicate: () => true,
    reconcile: async (_object, context) => {
      if (++runs < runawayMin) await run(runs, context);
    },
  });
  world.start([definition]);
  await world.run(300_000);
  return { runs, notes: await notesOf(world, "ReconcileLoop") };
}

test("a status that is never the same is a hot loop too", async () => {
  const { runs, notes } = await fiveMinutesOf((wrappers, { status }) => status({ wrappers }));
  expect(runs).toBeLessThan(140);
  expect(notes).toHaveLength(1);
});

test("writes through the client of the context are the key's own, and a loop of them is noticed", async () => {
  const { runs, notes } = await fiveMinutesOf((turn, { client }) =>
    client.patch(Candy, key, { metadata: { annotations: { turn: String(turn) } } }),
  );
  expect(runs).toBeLessThan(140);
  expect(notes).toHaveLength(1);
});

test("a child that is made and deleted in turn through the client of the context is a hot loop", async () => {
  const mint = { name: "mint", namespace: "default" };
  const { runs, notes } = await fiveMinutesOf(async (_turn, { client, children }) => {
    if (children.list(Wrapper).length > 0) return client.delete(Wrapper, mint);
    const { uid } = (await client.get(Candy, key)).metadata;
    const owner = { apiVersion: "example.com/v1", kind: "Candy", name: "lolly", uid, controller: true };
    return client.create(Wrapper, Wrapper({ ...mint, ownerReferences: [owner], data: {} }));
  });
  expect(runs).toBeLessThan(200);
  expect(notes).toHaveLength(1);
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
  expect(await notesOf(world, "ReconcileLoop")).toEqual([]);
});
