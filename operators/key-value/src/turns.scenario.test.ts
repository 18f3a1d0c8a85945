/** Something that cannot begin steps aside: others of the same instance go first, and it fails in the end. */
import { Backup, BackupPlan, BackupStore, Restore } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { conditionOf, type World } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { KeyValueStore } from "./key-value-store.ts";
import {
  backup,
  ordersReference,
  setUp as setUpWith,
  type Stage,
  storeClaim,
  vault,
} from "./testing/key-value-stage.ts";

async function setUp(seed: number): Promise<Stage> {
  const stage = await setUpWith(seed);
  await stage.world.apply(storeClaim);
  stage.server.put("orders", "a", "1");
  return stage;
}

const statusOf = async ({ world }: Stage, name: string): Promise<Backup["status"]> =>
  (await world.get(Backup, name)).status;

/** A store whose claim gets no volume, so that no pod with it starts. */
const claimless = BackupStore({ name: "claimless", spec: { claim: { claimName: "nowhere" } } });

/** A claim without a class, which waits for a volume that a person makes. */
function unbound(name: string): PersistentVolumeClaim {
  const { metadata, spec } = storeClaim;
  return { ...storeClaim, metadata: { ...metadata, name }, spec: { ...spec, storageClassName: "" } };
}

/** Pods with the claim of the store do not start any more. Pods that have ended keep it. */
async function unbind(world: World): Promise<void> {
  await world.delete(PersistentVolumeClaim, "vault");
}

describe("a backup", () => {
  test("whose store is missing lets the others of its instance go first, and begins when the store appears", async () => {
    const stage = await setUp(1);
    const { world } = stage;
    await using _ = world;
    await world.apply(backup("first", { store: "elsewhere" }));
    await world.run(seconds(2));
    await world.apply(backup("second"));
    await world.run(minutes(1));
    expect(await statusOf(stage, "second")).toMatchObject({ phase: "Succeeded" });
    const missing = 'BackupStore "elsewhere" does not exist';
    expect(await statusOf(stage, "first")).toMatchObject({ phase: "Pending", message: missing, waitingFor: missing });
    await world.apply(BackupStore({ name: "elsewhere", spec: vault.spec }));
    await world.run(minutes(1));
    const after = await statusOf(stage, "first");
    expect(after).toMatchObject({ phase: "Succeeded" });
    expect(after?.waitingFor).toBeUndefined();
    await world.expectQuiet();
  });

  test("whose pod cannot start lets the others go first, and fails at its deadline without a pod", async () => {
    const stage = await setUp(2);
    const { world } = stage;
    await using _ = world;
    await world.apply(claimless);
    await world.apply(unbound("nowhere"));
    await world.apply(backup("first", { store: "claimless", deadlineSeconds: 600 }));
    await world.run(seconds(2));
    await world.apply(backup("second"));
    await world.run(minutes(3));
    expect(await statusOf(stage, "second")).toMatchObject({ phase: "Succeeded" });
    expect((await statusOf(stage, "first"))?.waitingFor).toBe('pod "first-backup-1" has not started');
    await world.run(minutes(8));
    expect(await statusOf(stage, "first")).toMatchObject({ phase: "Failed" });
    expect((await statusOf(stage, "first"))?.message).toBe(
      'not finished within 600 s: pod "first-backup-1" has not started',
    );
    expect((await world.list(Pod)).map(({ metadata }) => metadata.name)).not.toContain("first-backup-1");
    await world.expectQuiet();
  });

  test("whose store has no claim goes on when it appears", async () => {
    const stage = await setUp(3);
    const { world } = stage;
    await using _ = world;
    await world.apply(claimless);
    await world.apply(backup("first", { store: "claimless" }));
    await world.run(minutes(3));
    expect((await statusOf(stage, "first"))?.message).toBe('PersistentVolumeClaim "nowhere" does not exist');
    await world.apply({ ...storeClaim, metadata: { ...storeClaim.metadata, name: "nowhere" } });
    await world.run(minutes(1));
    expect(await statusOf(stage, "first")).toMatchObject({ phase: "Succeeded", attempt: 1 });
  });

  test("that is deleted while its store's claim has no volume says so, and goes when it retains the data", async () => {
    const stage = await setUp(5);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(backup("first"));
    await world.settled();
    await unbind(world);
    await world.delete(Backup, "first");
    await world.run(minutes(5));
    expect(conditionOf(await world.get(Backup, "first"), "Terminating")).toMatchObject({
      message: expect.stringContaining('pod "first-delete-1" has not started; deletionPolicy Retain') as string,
    });
    await world.patch(Backup, "first", { spec: { deletionPolicy: "Retain" } });
    await world.settled();
    expect(await world.list(Backup)).toEqual([]);
    expect(transfers.vault.objects.size).toBe(1);
  });

  test("that waits for a missing store waits for one that has begun meanwhile", async () => {
    const stage = await setUp(4);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.slowMs = minutes(2);
    await world.apply(backup("first", { store: "elsewhere" }));
    await world.run(seconds(2));
    await world.apply(backup("second"));
    await world.run(seconds(30));
    await world.apply(BackupStore({ name: "elsewhere", spec: vault.spec }));
    await world.run(seconds(30));
    expect((await statusOf(stage, "first"))?.message).toBe('Backup "second" of the same instance is being taken');
    await world.run(minutes(12));
    expect(await statusOf(stage, "first")).toMatchObject({ phase: "Succeeded" });
  });
});

describe("a restore", () => {
  const restoreOf = async ({ world }: Stage, name: string): Promise<Restore["status"]> =>
    (await world.get(Restore, name)).status;
  const restore = (name: string, source: Restore["spec"]["source"], spec: object = {}): Restore =>
    Restore({ name, spec: { instance: ordersReference, source, inPlace: {}, ...spec } });

  async function setUpBackup(seed: number): Promise<Stage> {
    const stage = await setUp(seed);
    await stage.world.apply(backup("first"));
    await stage.world.settled();
    return stage;
  }

  test.each([
    ["Backup", { backup: "nobody" }, 'Backup "nobody" does not exist'],
    ["store", { stored: { store: "elsewhere", object: "a/b" } }, 'BackupStore "elsewhere" does not exist'],
  ])("whose %s is missing lets the others of its instance go first", async (_, source, message) => {
    const stage = await setUpBackup(21);
    const { world } = stage;
    await using _world = world;
    await world.apply(restore("early", source));
    await world.run(seconds(2));
    await world.apply(restore("late", { backup: "first" }));
    await world.run(minutes(3));
    expect(await restoreOf(stage, "late")).toMatchObject({ phase: "Succeeded" });
    expect(await restoreOf(stage, "early")).toMatchObject({ phase: "Pending", message, waitingFor: message });
  });

  test("whose Backup appears waits for the one that has begun meanwhile", async () => {
    const stage = await setUpBackup(22);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.slowMs = minutes(2);
    await world.apply(restore("early", { backup: "second" }));
    await world.run(seconds(2));
    await world.apply(restore("late", { backup: "first" }));
    await world.run(seconds(10));
    expect(await restoreOf(stage, "late")).toMatchObject({ phase: "Verifying" });
    transfers.slowMs = 0;
    await world.apply(backup("second"));
    await world.run(seconds(30));
    expect(await restoreOf(stage, "early")).toMatchObject({
      phase: "Pending",
      message: 'Restore "late" of the same instance is in progress',
    });
    await world.run(minutes(10));
    expect(await restoreOf(stage, "late")).toMatchObject({ phase: "Succeeded" });
    expect(await restoreOf(stage, "early")).toMatchObject({ phase: "Succeeded" });
  });

  test.each([
    ["Verifying", true],
    ["Preparing", false],
  ])("whose pod cannot start in phase %s fails at its deadline, and the instance serves", async (phase, early) => {
    const stage = await setUpBackup(23);
    const { world } = stage;
    await using _ = world;
    if (early) await unbind(world);
    await world.apply(restore("back", { backup: "first" }, { deadlineSeconds: 300 }));
    if (!early) {
      const isStopping = async (): Promise<boolean> => (await restoreOf(stage, "back"))?.phase === "Stopping";
      while (!(await isStopping())) await world.run(20);
      await unbind(world);
    }
    await world.run(minutes(2));
    expect(await restoreOf(stage, "back")).toMatchObject({ phase });
    await world.run(minutes(10));
    const status = await restoreOf(stage, "back");
    expect(status).toMatchObject({ phase: "Failed" });
    expect(status?.message).toContain(
      `${phase} took longer than 300 s: attempt 1 of 3 is waiting for its pod to start`,
    );
    expect((await world.get(KeyValueStore, "orders")).status).toMatchObject({ serving: true });
    const left = (await world.list(Pod)).filter(({ status: pod }) => pod?.phase === "Pending");
    expect(left).toEqual([]);
    await world.expectQuiet();
  });

  test("whose store disappears before the present data are saved fails at its deadline", async () => {
    const stage = await setUpBackup(24);
    const { world } = stage;
    await using _ = world;
    await world.apply(restore("back", { backup: "first" }, { deadlineSeconds: 300 }));
    await world.until("it verifies", async () => (await restoreOf(stage, "back"))?.transferUID !== undefined);
    await world.delete(BackupStore, "vault");
    await world.run(minutes(10));
    const status = await restoreOf(stage, "back");
    expect(status).toMatchObject({ phase: "Failed" });
    expect(status?.message).toContain('BackupStore "vault" does not exist');
    await world.expectQuiet();
  });
});

describe("a plan", () => {
  const plan = (spec: object = {}): BackupPlan =>
    BackupPlan({ name: "often", spec: { instance: ordersReference, store: "vault", schedule: "* * * * *", ...spec } });

  test("whose store was missing goes on with the one that it names now", async () => {
    const stage = await setUp(31);
    const { world } = stage;
    await using _ = world;
    await world.apply(plan({ store: "elsewhere" }));
    await world.run(minutes(5));
    const [waiting] = await world.list(Backup);
    expect((await world.get(BackupPlan, "often")).status?.message).toContain(
      `waits for Backup "${waiting?.metadata.name}": BackupStore "elsewhere" does not exist`,
    );
    expect(await world.list(Backup)).toHaveLength(1);
    await world.patch(BackupPlan, "often", { spec: { store: "vault" } });
    await world.run(minutes(5));
    expect((await world.get(BackupPlan, "often")).status?.goodBackups).toBeGreaterThan(2);
  });
});
