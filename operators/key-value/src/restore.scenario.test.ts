/** Restores of an engine that brings nothing but its two short files. */
import { Backup, Restore } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { describe, expect, test } from "vitest";
import { KeyValueStore } from "./key-value-store.ts";
import { backup, ordersReference, setUp as setUpWith, type Stage, storeClaim } from "./testing/key-value-stage.ts";

async function setUp(seed: number): Promise<Stage> {
  const stage = await setUpWith(seed);
  const { world, server } = stage;
  await world.apply(storeClaim);
  server.put("orders", "a", "1");
  await world.apply(backup("first"));
  await world.settled();
  server.put("orders", "a", "2");
  return stage;
}

function inPlace(name: string, spec: Partial<Restore["spec"]> = {}): Restore {
  return Restore({ name, spec: { instance: ordersReference, source: { backup: "first" }, inPlace: {}, ...spec } });
}

function intoNew(name: string): Restore {
  const newInstance = { name: "copy", spec: { storage: "2Gi" } };
  return Restore({ name, spec: { instance: ordersReference, source: { backup: "first" }, newInstance } });
}

const statusOf = async ({ world }: Stage, name = "back"): Promise<Restore["status"]> =>
  (await world.get(Restore, name)).status;
const claims = async ({ world }: Stage): Promise<readonly string[]> =>
  (await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.name).filter((name) => name !== "vault");

describe("a restore into a new instance", () => {
  test("gives it the data of the backup, and leaves the original alone", async () => {
    const stage = await setUp(1);
    const { world, server } = stage;
    await using _ = world;
    const before = await world.get(KeyValueStore, "orders");
    await world.apply(intoNew("back"));
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded", position: "1" });
    expect(server.keys("copy")).toEqual({ a: "1" });
    expect(server.keys("orders")).toEqual({ a: "2" });
    expect((await world.get(KeyValueStore, "orders")).metadata.generation).toBe(before.metadata.generation);
    expect((await world.get(KeyValueStore, "copy")).spec).toEqual({ storage: "2Gi", version: "1.0.0" });
    await world.expectQuiet();
  });

  test("creates nothing when the stored data are damaged", async () => {
    const stage = await setUp(2);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.vault.damage();
    await world.apply(intoNew("back"));
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Failed" });
    expect((await statusOf(stage))?.message).toContain("BackupDamaged");
    expect((await world.list(KeyValueStore)).map(({ metadata }) => metadata.name)).toEqual(["orders"]);
    await world.expectQuiet();
  });

  test("verifies the source itself when its Backup has the same name", async () => {
    const stage = await setUp(2);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.vault.damage();
    await world.apply(intoNew("first"));
    await world.settled();
    expect(await statusOf(stage, "first")).toMatchObject({ phase: "Failed" });
    expect((await statusOf(stage, "first"))?.message).toContain("BackupDamaged");
    expect(world.trace.filter((line) => line.includes("keyvaluestores/copy → 201"))).toEqual([]);
  });

  test("takes no result from a pod of another owner that has its name", async () => {
    const stage = await setUp(2);
    const { world, server } = stage;
    await using _ = world;
    const containers = [{ name: "other", image: "other.invalid/program:1" }];
    await world.apply(Pod({ name: "back-restore-verify-1", spec: { containers } }));
    await world.apply(intoNew("back"));
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded" });
    expect(server.keys("copy")).toEqual({ a: "1" });
  });

  test("refuses the name of an instance that exists", async () => {
    const stage = await setUp(3);
    const { world, server } = stage;
    await using _ = world;
    const newInstance = { name: "orders" };
    await world.apply(
      Restore({ name: "back", spec: { instance: ordersReference, source: { backup: "first" }, newInstance } }),
    );
    await world.settled();
    expect((await statusOf(stage))?.message).toContain('KeyValueStore "orders" exists already');
    expect(server.keys("orders")).toEqual({ a: "2" });
  });

  test("works from the store alone when the Backup and the instance are gone", async () => {
    const stage = await setUp(4);
    const { world, server } = stage;
    await using _ = world;
    const { object = "" } = (await world.get(Backup, "first")).status ?? {};
    await world.patch(Backup, "first", { spec: { deletionPolicy: "Retain" } });
    await world.delete(Backup, "first");
    await world.delete(KeyValueStore, "orders");
    await world.settled();
    const stored = { store: "vault", object };
    await world.apply(
      Restore({
        name: "back",
        spec: { instance: ordersReference, source: { stored }, newInstance: { name: "orders" } },
      }),
    );
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded" });
    expect(server.keys("orders")).toEqual({ a: "1" });
  });
});

describe("a restore in place", () => {
  test("replaces the data, after a backup of the present ones, and keeps the volume from before for a time", async () => {
    const stage = await setUp(5);
    const { world, server } = stage;
    await using _ = world;
    await world.apply(inPlace("back", { keepPreviousFor: "1h" }));
    await world.settled();
    const status = await statusOf(stage);
    expect(status).toMatchObject({ phase: "Succeeded", safetyBackup: "back-safety" });
    expect(status?.recoverySeconds).toBeGreaterThan(0);
    expect(server.keys("orders")).toEqual({ a: "1" });
    expect((await world.get(Backup, "back-safety")).status).toMatchObject({ phase: "Succeeded", position: "2" });
    expect((await claims(stage)).length).toBe(2);
    await world.run(minutes(61));
    await world.settled();
    expect(await claims(stage)).toEqual([`data-orders-${status?.id}`]);
    expect(server.keys("orders")).toEqual({ a: "1" });
    await world.expectQuiet();
  });

  test("deletes the volumes from before an earlier one too", async () => {
    const stage = await setUp(12);
    const { world } = stage;
    await using _ = world;
    await world.apply(inPlace("back", { keepPreviousFor: "1h" }));
    await world.settled();
    await world.apply(inPlace("again", { keepPreviousFor: "1m" }));
    await world.settled();
    expect(await claims(stage)).toHaveLength(3);
    await world.run(minutes(2));
    await world.settled();
    const { id } = (await world.get(Restore, "again")).status ?? {};
    expect(await claims(stage)).toEqual([`data-orders-${id}`]);
    await world.expectQuiet();
  });

  test("touches nothing when the stored data are damaged", async () => {
    const stage = await setUp(6);
    const { world, transfers, server } = stage;
    await using _ = world;
    transfers.vault.damage();
    const { uid } = (await world.get(Pod, "orders-0")).metadata;
    await world.apply(inPlace("back"));
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Failed" });
    expect((await world.get(Pod, "orders-0")).metadata.uid).toBe(uid);
    expect((await world.get(KeyValueStore, "orders")).metadata.annotations).toBeUndefined();
    expect(server.keys("orders")).toEqual({ a: "2" });
    expect(await world.list(Backup)).toHaveLength(1);
  });

  test("goes back to the previous data when the data are damaged after the stop", async () => {
    const stage = await setUp(7);
    const { world, transfers, server } = stage;
    await using _ = world;
    await world.apply(inPlace("back"));
    await world.until("it has stopped", async () => (await statusOf(stage))?.phase === "Preparing");
    transfers.vault.damage();
    await world.settled();
    const status = await statusOf(stage);
    expect(status).toMatchObject({ phase: "Failed" });
    expect(status?.message).toContain("the instance runs on its previous data");
    expect(server.keys("orders")).toEqual({ a: "2" });
    expect(await claims(stage)).toEqual(["data-orders"]);
    await world.expectQuiet();
  });

  test("that is deleted half way goes back to the previous data", async () => {
    const stage = await setUp(8);
    const { world, transfers, server } = stage;
    await using _ = world;
    transfers.slowMs = seconds(20);
    await world.apply(inPlace("back"));
    await world.until("it has stopped", async () => (await statusOf(stage))?.phase === "Preparing", {
      within: minutes(5),
    });
    await world.delete(Restore, "back");
    await world.settled();
    expect(await world.list(Restore)).toEqual([]);
    expect(server.keys("orders")).toEqual({ a: "2" });
    await world.expectQuiet();
  });

  test("goes back to the previous data when a client deletes the volume of the restored ones", async () => {
    const stage = await setUp(11);
    const { world, transfers, server } = stage;
    await using _ = world;
    transfers.slowMs = seconds(20);
    await world.apply(inPlace("back"));
    const isPrepared = async (): Promise<boolean> =>
      (await world.list(Pod)).some(({ metadata }) => metadata.name === "back-restore-prepare-1");
    await world.until("a pod has the volume", isPrepared, { within: minutes(5) });
    const { id } = (await statusOf(stage)) ?? {};
    await world.delete(PersistentVolumeClaim, `data-orders-${id}`);
    await world.settled();
    const status = await statusOf(stage);
    expect(status).toMatchObject({ phase: "Failed" });
    expect(status?.message).toContain("the volume with the restored data was deleted");
    expect(server.keys("orders")).toEqual({ a: "2" });
    await world.expectQuiet();
  });

  test("tries a transfer again and still succeeds", async () => {
    const stage = await setUp(9);
    const { world, transfers, server } = stage;
    await using _ = world;
    await world.apply(inPlace("back"));
    await world.until("it prepares", async () => (await statusOf(stage))?.phase === "Preparing");
    transfers.vault.isFailing = true;
    await world.until("it has failed once", async () => (await statusOf(stage))?.retryAt !== undefined);
    transfers.vault.isFailing = false;
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded" });
    expect(server.keys("orders")).toEqual({ a: "1" });
  });

  test("does the same although the operator dies after each of its writes", async () => {
    for (let write = 1; write <= 30; write++) {
      const stage = await setUp(10);
      const { world, transfers, server } = stage;
      await using _ = world;
      world.crashOperatorAt(world.operatorWrites + write, "after");
      await world.apply(inPlace("back"));
      await world.settled();
      expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded" });
      expect(server.keys("orders")).toEqual({ a: "1" });
      expect(Object.fromEntries(transfers.started)).toEqual({ backup: 2, verify: 3, fetch: 1 });
    }
  });
});
