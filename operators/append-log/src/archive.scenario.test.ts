/** Promotions, and restores to a moment of the past, in the simulated world. */
import { Restore } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { AppendLog } from "./append-log.ts";
import { backup, orders, ordersReference, setUp, type Stage } from "./testing/append-log-stage.ts";

type Target = Restore["spec"]["target"];
type Destination = Pick<Restore["spec"], "inPlace" | "newInstance">;

const texts = (from: number, to: number, prefix = "a"): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => `${prefix}${from + at}`);
const copy: Destination = { newInstance: { name: "copy" } };

/** Two entries in a backup, and ten more in the log. */
async function withHistory(seed: number): Promise<Stage> {
  const stage = await setUp(seed);
  const { world, model } = stage;
  model.append("orders", ...texts(0, 2));
  await world.apply(backup("first"));
  await world.settled();
  model.append("orders", ...texts(2, 5), "mark noon", ...texts(6, 12));
  await archivedUpTo(stage, "12");
  return stage;
}

async function archivedUpTo({ world }: Stage, end: string): Promise<void> {
  const reported = async (): Promise<boolean> =>
    (await world.get(AppendLog, "orders")).status?.archive?.window?.end === end;
  await world.until(`the archive has all up to ${end}`, reported);
}

async function restore({ world }: Stage, target: Target, destination: Destination = copy, name = "back") {
  const source = { archive: { store: "vault" } };
  const spec = { instance: ordersReference, source, ...destination };
  await world.apply(Restore({ name, spec: target === undefined ? spec : { ...spec, target } }));
  await world.settled({ within: minutes(30) });
  return (await world.get(Restore, name)).status;
}

test("an AppendLog has a primary and a replica that follows it, and stays so", async () => {
  const { world, model } = await setUp(1);
  await using _ = world;
  model.append("orders", "a0");
  await world.run(seconds(30));
  const { status } = await world.get(AppendLog, "orders");
  expect(status?.members).toEqual([
    { name: "orders-0", role: "primary", timeline: 1, position: 1 },
    { name: "orders-1", role: "replica", timeline: 1, position: 1 },
  ]);
  await world.expectQuiet();
});

test.each<[Target, readonly string[]]>([
  [{ position: "7" }, [...texts(0, 5), "mark noon", "a6"]],
  [{ name: "noon" }, [...texts(0, 5), "mark noon"]],
  [undefined, [...texts(0, 5), "mark noon", ...texts(6, 12)]],
])("a restore to %j has exactly the entries up to it, in a new instance", async (target, wanted) => {
  const stage = await withHistory(2);
  await using _ = stage.world;
  expect(await restore(stage, target)).toMatchObject({ phase: "Succeeded" });
  expect(stage.model.entries("copy")).toEqual(wanted);
  expect(stage.model.entries("orders")).toHaveLength(12);
  await stage.world.expectQuiet();
});

test("a target behind a gap is refused with it, before a pod but the verifying one or a claim is made", async () => {
  const stage = await withHistory(3);
  const { world, model } = stage;
  await using _ = world;
  for (const files of model.archives.values()) files.delete("1-000004");
  await world.run(seconds(10));
  expect(conditionOf(await world.get(AppendLog, "orders"), "Archived")).toMatchObject({ status: "False" });
  const seen = async () => ({
    pods: (await world.list(Pod)).map(({ metadata }) => metadata.uid),
    claims: (await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.uid),
  });
  const before = await seen();
  const status = await restore(stage, { position: "10" }, { inPlace: {} });
  expect(status).toMatchObject({ phase: "Failed" });
  expect(status?.message).toMatch(/"10" is outside of .*\(position 4\); the archive lacks 4 to 8 of timeline 1/);
  const verifying = (await world.get(Pod, "back-restore-verify-1")).metadata.uid;
  const after = await seen();
  expect({ ...after, pods: after.pods.filter((each) => each !== verifying) }).toEqual(before);
  expect(model.entries("orders")).toHaveLength(12);
  await world.expectQuiet();
});

test("an engine that cannot stop at a transaction says so, and starts no pod", async () => {
  const stage = await withHistory(4);
  await using _ = stage.world;
  expect((await restore(stage, { transaction: "7" }))?.message).toContain("use one of time, position, name");
  expect((await stage.world.list(Pod)).filter(({ metadata }) => metadata.name.startsWith("back-"))).toEqual([]);
});

test("a target is one moment, and does not change", async () => {
  const { world } = await setUp(9);
  await using _ = world;
  const source = { archive: { store: "vault" } };
  const spec = (target: Target): Restore =>
    Restore({ name: "back", spec: { instance: ordersReference, source, target, ...copy } });
  const two = { position: "7", name: "noon" };
  await expect(
    world.apply({ ...spec({ name: "noon" }), spec: { ...spec({ name: "noon" }).spec, target: two } }),
  ).rejects.toThrow("exactly one of");
  await world.apply(spec({ position: "7" }));
  const patched = world.patch(Restore, "back", { spec: { target: { position: "8" } } });
  await expect(patched).rejects.toThrow("immutable: create another Restore instead");
});

test("a restore of an instance that is gone finds its archive by its Backup", async () => {
  const stage = await withHistory(5);
  await using _ = stage.world;
  await stage.world.delete(AppendLog, "orders");
  await stage.world.settled();
  const newInstance = { name: "orders", spec: { members: 1, store: "vault" } };
  expect(await restore(stage, { position: "9" }, { newInstance })).toMatchObject({ phase: "Succeeded" });
  expect(stage.model.entries("orders")).toHaveLength(9);
});

/** The primary is lost, entries follow, and the data go back to before and into the new history. */
async function promoteAndRestore({ world, model }: Stage): Promise<void> {
  await world.delete(Pod, "orders-0");
  const isPromoted = async (): Promise<boolean> => {
    const { status } = await world.get(AppendLog, "orders");
    return status?.serving === true && status.timeline === 2;
  };
  await world.until("the replica is the primary", isPromoted, { within: minutes(10) });
  model.append("orders", ...texts(12, 20, "b"));
  await archivedUpTo({ world, model }, "20");
  expect(await restore({ world, model }, { position: "14" }, { inPlace: {} })).toMatchObject({ phase: "Succeeded" });
}

test("a promoted replica goes on with the history, and a restore in place leads across the promotion", async () => {
  const stage = await withHistory(6);
  const { world, model } = stage;
  await using _ = world;
  await promoteAndRestore(stage);
  expect(model.entries("orders")).toEqual([...texts(0, 5), "mark noon", ...texts(6, 12), "b12", "b13"]);
  const { status } = await world.get(AppendLog, "orders");
  expect(status).toMatchObject({ primary: "orders-0", timeline: 3 });
  expect(await restore(stage, { position: "19", timeline: 2 }, copy, "again")).toMatchObject({ phase: "Succeeded" });
  expect(model.entries("copy").slice(12)).toEqual(texts(12, 19, "b"));
  await world.expectQuiet();
});

test("it does the same although the operator dies after each of its writes", async () => {
  const quiet = await withHistory(7);
  const from = quiet.world.operatorWrites;
  await promoteAndRestore(quiet);
  const writes = quiet.world.operatorWrites - from;
  const wanted = quiet.model.entries("orders");
  await quiet.world[Symbol.asyncDispose]();
  expect(writes).toBeGreaterThan(20);
  for (let write = 1; write <= writes; write++) {
    const stage = await withHistory(7);
    await using _ = stage.world;
    stage.world.crashOperatorAt(stage.world.operatorWrites + write, "after");
    await promoteAndRestore(stage);
    expect(stage.model.entries("orders"), `after write ${write}`).toEqual(wanted);
    expect(stage.model.violations).toEqual([]);
  }
});

test("a replica that lacks entries waits for the primary, whose volume has them", async () => {
  const { world, model } = await setUp(8);
  await using _ = world;
  model.append("orders", ...texts(0, 3));
  await world.run(seconds(10));
  await world.delete(Pod, "orders-1");
  await world.settled();
  await world.kill("orders-0");
  await world.settled();
  expect(model.entries("orders")).toEqual(texts(0, 3));
  expect(orders.spec.members).toBe(2);
});
