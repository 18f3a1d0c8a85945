/** Plans and drills of an engine that brings nothing but its two short files. */
import { Backup, BackupPlan, Restore, RestoreDrill } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { Pod } from "setpoint/kinds";
import { describe, expect, test } from "vitest";
import { KeyValueStore } from "./key-value-store.ts";
import { backup, ordersReference, setUp as setUpWith, type Stage, storeClaim } from "./testing/key-value-stage.ts";

async function setUp(seed: number): Promise<Stage> {
  const stage = await setUpWith(seed);
  await stage.world.apply(storeClaim);
  stage.server.put("orders", "a", "1");
  return stage;
}

function plan(spec: Partial<Parameters<typeof BackupPlan>[0]["spec"]> = {}): BackupPlan {
  const all = { instance: ordersReference, store: "vault", schedule: "*/5 * * * *", retention: { keepLast: 2 } };
  return BackupPlan({ name: "often", spec: { ...all, ...spec } });
}

const names = async ({ world }: Stage): Promise<readonly string[]> =>
  (await world.list(Backup)).map(({ metadata }) => metadata.name).toSorted();
const planOf = ({ world }: Stage): Promise<BackupPlan> => world.get(BackupPlan, "often");

describe("a plan", () => {
  test("takes backups at its times and keeps the newest", async () => {
    const stage = await setUp(1);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(plan());
    await world.run(minutes(26));
    expect(transfers.started.get("backup")).toBe(5);
    const left = await world.list(Backup);
    expect(left).toHaveLength(2);
    expect(transfers.vault.objects.size).toBe(2);
    const newest = left.map(({ status }) => status?.takenAt ?? "").toSorted();
    expect((await planOf(stage)).status).toMatchObject({
      goodBackups: 2,
      recoverableWindow: { from: newest[0], to: newest[1] },
      active: [],
    });
  });

  test("keeps the last good backup although every later one fails", async () => {
    const stage = await setUp(2);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(plan({ retention: { keepFor: "1m" }, attempts: 1 }));
    await world.run(minutes(6));
    const [first = ""] = await names(stage);
    transfers.vault.isFailing = true;
    await world.run(minutes(60));
    const left = await world.list(Backup);
    expect(left.find(({ metadata }) => metadata.name === first)?.status?.phase).toBe("Succeeded");
    expect((await planOf(stage)).status?.lastGoodBackup?.name).toBe(first);
  });

  test("makes up once for runs that were missed while the operator was away", async () => {
    const stage = await setUp(3);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(plan());
    await world.run(seconds(5));
    world.stopOperator();
    await world.run(minutes(32));
    await world.restartOperator();
    await world.run(minutes(1));
    expect(transfers.started.get("backup")).toBe(1);
  });

  test("leaves out a run that is too late", async () => {
    const stage = await setUp(4);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(plan({ startingDeadlineSeconds: 20, schedule: "0 * * * *" }));
    await world.run(seconds(5));
    world.stopOperator();
    await world.run(minutes(100));
    await world.restartOperator();
    await world.run(seconds(30));
    expect(transfers.started.get("backup")).toBeUndefined();
    expect((await planOf(stage)).status?.lastScheduleTime).toBeDefined();
  });

  test.each([
    ["Forbid", 1],
    ["Allow", 3],
    ["Replace", 1],
  ] as const)("with concurrency %s has %i unfinished backups", async (concurrency, count) => {
    const stage = await setUp(5);
    const { world, transfers } = stage;
    await using _ = world;
    transfers.slowMs = minutes(30);
    await world.apply(plan({ concurrency, schedule: "* * * * *" }));
    await world.run(seconds(175));
    const active = (await planOf(stage)).status?.active ?? [];
    expect(active.length).toBeGreaterThan(0);
    expect(active.length).toBeLessThanOrEqual(count);
    expect(active.length > 1).toBe(count > 1);
  });

  test("that is suspended or has no schedule takes none, and says so", async () => {
    const stage = await setUp(6);
    const { world } = stage;
    await using _ = world;
    await world.apply(plan({ suspend: true }));
    await world.run(minutes(20));
    expect((await planOf(stage)).status?.message).toBe("the plan is suspended");
    const never = "0 3 30 2 +MON";
    await world.patch(BackupPlan, "often", { spec: { suspend: false, schedule: never } });
    await world.run(minutes(1));
    expect((await planOf(stage)).status?.message).toContain(`Cannot use cron line "${never}": it never fires`);
    expect(await names(stage)).toEqual([]);
    await world.expectQuiet();
  });

  test("that is deleted leaves its backups", async () => {
    const stage = await setUp(7);
    const { world } = stage;
    await using _ = world;
    await world.apply(plan());
    await world.run(minutes(6));
    await world.delete(BackupPlan, "often");
    await world.settled();
    expect(await names(stage)).toHaveLength(1);
    await world.expectQuiet();
  });

  test("makes each run once although the operator dies after each of its writes", async () => {
    for (let write = 1; write <= 10; write++) {
      const stage = await setUp(8);
      const { world, transfers } = stage;
      await using _ = world;
      world.crashOperatorAt(world.operatorWrites + write, "after");
      await world.apply(plan());
      await world.run(minutes(9));
      expect(await names(stage)).toHaveLength((await planOf(stage)).status?.goodBackups ?? 0);
      expect(transfers.started.get("backup")).toBe((await names(stage)).length);
    }
  });
});

describe("a drill", () => {
  const drill = RestoreDrill({ name: "proof", spec: { instance: ordersReference, schedule: "0 * * * *" } });
  const drillOf = ({ world }: Stage): Promise<RestoreDrill> => world.get(RestoreDrill, "proof");

  test("restores the newest good backup, measures it, and leaves nothing behind", async () => {
    const stage = await setUp(20);
    const { world, server } = stage;
    await using _ = world;
    await world.apply(backup("first"));
    await world.settled();
    await world.apply(drill);
    await world.run(minutes(62));
    const { status } = await drillOf(stage);
    expect(status).toMatchObject({ lastOutcome: "Succeeded", history: [{ backup: "first", outcome: "Succeeded" }] });
    expect(status?.recoverySeconds).toBeGreaterThan(0);
    expect(status?.dataAgeSeconds).toBeGreaterThan(0);
    expect((await world.list(KeyValueStore)).map(({ metadata }) => metadata.name)).toEqual(["orders"]);
    expect(await world.list(Restore)).toEqual([]);
    expect((await world.list(Pod)).filter(({ metadata }) => metadata.name.startsWith("proof"))).toEqual([]);
    expect(server.keys("orders")).toEqual({ a: "1" });
  });

  test("fails loudly for a damaged backup, and without any", async () => {
    const stage = await setUp(21);
    const { world, transfers } = stage;
    await using _ = world;
    await world.apply(drill);
    await world.run(minutes(62));
    expect((await drillOf(stage)).status?.history?.[0]?.message).toContain("has no backup that was verified");
    await world.apply(backup("first"));
    await world.run(minutes(2));
    transfers.vault.damage();
    await world.run(minutes(62));
    const { status } = await drillOf(stage);
    expect(status).toMatchObject({ lastOutcome: "Failed" });
    expect(status?.history?.[0]?.message).toContain("BackupDamaged");
    expect(status?.conditions?.find(({ type }) => type === "Drilled")).toMatchObject({ status: "False" });
    expect((await world.list(KeyValueStore)).length).toBe(1);
  });

  test("keeps the five newest outcomes", async () => {
    const stage = await setUp(22);
    const { world } = stage;
    await using _ = world;
    await world.apply(backup("first"));
    await world.settled();
    await world.apply(drill);
    await world.run(minutes(60 * 7 + 5));
    const times = ((await drillOf(stage)).status?.history ?? []).map(({ at }) => at);
    expect(times).toHaveLength(5);
    expect(times).toEqual(times.toSorted().toReversed());
  });
});
