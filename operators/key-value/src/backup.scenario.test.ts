/** Backups of an engine that brings nothing but its two short files. */
import { Backup, BackupStore } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { Pod } from "setpoint/kinds";
import { describe, expect, test } from "vitest";
import { KeyValueStore } from "./key-value-store.ts";
import { backup, setUp as setUpWith, type Stage, storeClaim } from "./testing/key-value-stage.ts";

async function setUp(seed: number, image?: string): Promise<Stage> {
  const stage = image === undefined ? await setUpWith(seed) : await setUpWith(seed, image);
  await stage.world.apply(storeClaim);
  stage.server.put("orders", "a", "1");
  return stage;
}

const statusOf = async ({ world }: Stage, name = "first"): Promise<Backup["status"]> =>
  (await world.get(Backup, name)).status;
const transferPods = async ({ world }: Stage): Promise<readonly string[]> =>
  (await world.list(Pod)).map(({ metadata }) => metadata.name).filter((name) => name !== "orders-0");

describe("a backup", () => {
  test("succeeds after its stored data were read back", async () => {
    const stage = await setUp(1);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(backup("first"));
    await world.settled();
    const status = await statusOf(stage);
    expect(status).toMatchObject({ phase: "Succeeded", position: "1", attempt: 1 });
    expect(status?.verifiedAt).toBeDefined();
    expect(transfers.vault.objects.has(status?.object ?? "")).toBe(true);
    expect(Object.fromEntries(transfers.started)).toEqual({ backup: 1, verify: 1 });
    expect(await transferPods(stage)).toEqual(["first-backup-1", "first-verify-1"]);
    await world.expectQuiet();
  });

  test("that was damaged in the store is never reported as succeeded", async () => {
    const stage = await setUp(2);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(backup("first", { attempts: 2 }));
    const isVerifying = async (): Promise<boolean> => (await statusOf(stage))?.phase === "Verifying";
    for (let attempt = 0; attempt < 2; attempt++) {
      await world.until("it verifies", isVerifying);
      transfers.vault.damage();
      await world.until("it has seen that", async () => !(await isVerifying()));
    }
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Failed" });
    expect((await statusOf(stage))?.verifiedAt).toBeUndefined();
    expect((await statusOf(stage))?.message).toContain("BackupDamaged");
    await world.expectQuiet();
  });

  test("is tried again after the store failed, and says when", async () => {
    const stage = await setUp(3);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.vault.isFailing = true;
    await world.apply(backup("first"));
    await world.until("it has failed once", async () => (await statusOf(stage))?.retryAt !== undefined);
    expect((await statusOf(stage))?.message).toContain("StoreUnreachable: the store does not answer");
    transfers.vault.isFailing = false;
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded", attempt: 2 });
  });

  test("fails after its attempts, with the reason in the status and an object that a later one does not take over", async () => {
    const stage = await setUp(4);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.vault.isFailing = true;
    await world.apply(backup("first", { attempts: 2 }));
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Failed", attempt: 2 });
    expect(transfers.started.get("backup")).toBe(2);
    await world.expectQuiet();
  });

  test("counts a pod that was deleted as a failed attempt", async () => {
    const stage = await setUp(5);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.slowMs = seconds(60);
    await world.apply(backup("first"));
    await world.until("it runs", async () => (await statusOf(stage))?.transferUID !== undefined);
    await world.delete(Pod, "first-backup-1");
    transfers.slowMs = 0;
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded", attempt: 2 });
  });

  test("exceeds its deadline and says what it waited for", async () => {
    const stage = await setUp(6);
    const { world } = stage;
    await using _ = world;
    await world.delete(BackupStore, "vault");
    await world.apply(backup("first", { deadlineSeconds: 30 }));
    await world.run(seconds(10));
    expect(await statusOf(stage)).toMatchObject({ phase: "Pending", message: 'BackupStore "vault" does not exist' });
    await world.settled();
    expect(await statusOf(stage)).toMatchObject({ phase: "Failed" });
    expect((await statusOf(stage))?.message).toContain("not finished within 30 s");
  });

  test("waits for its instance to serve, and for an older backup of it", async () => {
    const stage = await setUp(7);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.slowMs = seconds(20);
    await world.apply(backup("first"));
    await world.run(seconds(2));
    await world.apply(backup("second"));
    await world.run(seconds(5));
    expect((await statusOf(stage, "second"))?.message).toContain('Backup "first" of the same instance is being taken');
    await world.settled();
    expect(await statusOf(stage, "second")).toMatchObject({ phase: "Succeeded" });
    await world.apply(backup("third", { instance: { ...backup("x").spec.instance, name: "nobody" } }));
    await world.run(seconds(5));
    expect((await statusOf(stage, "third"))?.message).toBe('KeyValueStore "nobody" does not exist');
  });

  test("that is deleted takes its stored data along, and one that retains them does not", async () => {
    const stage = await setUp(8);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(backup("first"));
    await world.apply(backup("second", { deletionPolicy: "Retain" }));
    await world.settled();
    expect(transfers.vault.objects.size).toBe(2);
    await world.delete(Backup, "first");
    await world.delete(Backup, "second");
    await world.settled();
    expect(await world.list(Backup)).toEqual([]);
    expect(transfers.vault.objects.size).toBe(1);
    expect(await transferPods(stage)).toEqual([]);
    await world.expectQuiet();
  });

  test("of another engine is not touched", async () => {
    const stage = await setUp(9);
    const { world } = stage;
    await using _ = world;
    await world.apply(
      backup("first", { instance: { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "orders" } }),
    );
    const before = await world.get(Backup, "first");
    await world.run(minutes(5));
    expect(await world.get(Backup, "first")).toEqual(before);
  });

  test("is not taken by an operator that does not know its image, and says what to set", async () => {
    const stage = await setUp(10, "");
    const { world } = stage;
    await using _ = world;
    await world.apply(backup("first"));
    await world.run(seconds(5));
    expect((await statusOf(stage))?.message).toContain("SETPOINT_OPERATOR_IMAGE");
  });

  test("is transferred once although the operator dies after each of its writes", async () => {
    for (let write = 1; write <= 12; write++) {
      const stage = await setUp(11);
      const { world, transfers } = stage;
      await using _ = world;
      world.crashOperatorAt(world.operatorWrites + write, "after");
      await world.apply(backup("first"));
      await world.settled();
      expect(await statusOf(stage)).toMatchObject({ phase: "Succeeded", attempt: 1 });
      expect(Object.fromEntries(transfers.started)).toEqual({ backup: 1, verify: 1 });
      expect(transfers.violations).toEqual([]);
    }
  });
});

test("a store of keys serves, and its claim stays with it", async () => {
  const { world, server } = await setUp(12);
  await using _ = world;
  expect(server.keys("orders")).toEqual({ a: "1" });
  expect((await world.get(KeyValueStore, "orders")).status).toMatchObject({ serving: true, claim: "data-orders" });
});
