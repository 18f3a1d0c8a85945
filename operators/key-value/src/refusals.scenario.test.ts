/** No kind says that the desired state is reached beside a refusal or a failure. */
import { Backup, BackupPlan, Restore, RestoreDrill } from "@setpoint/data-service";
import { minutes, seconds, type KindRef, type KubeObject } from "setpoint";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { backup, ordersReference, setUp as setUpWith, type Stage, storeClaim } from "./testing/key-value-stage.ts";

const schedule = "*/5 * * * *";
/** Only a look at all dates shows that it never fires, so the server accepts it. */
const never = "0 3 30 2 +MON";

function plan(spec: object = {}): BackupPlan {
  return BackupPlan({ name: "often", spec: { instance: ordersReference, store: "vault", schedule, ...spec } });
}

function drill(spec: object = {}): RestoreDrill {
  return RestoreDrill({ name: "proof", spec: { instance: ordersReference, schedule, ...spec } });
}

const instance = { ...ordersReference, name: "nobody" };
const source = { stored: { store: "vault", object: "keyvaluestore/default/orders/uid/gone" } };
const restore = Restore({ name: "back", spec: { instance: ordersReference, source, inPlace: {}, attempts: 1 } });

const situations: readonly (readonly [string, KubeObject, KindRef, string, string])[] = [
  ["a Backup that has failed", backup("first", { instance, deadlineSeconds: 10 }), Backup, "first", "Failed"],
  ["a Restore that has failed", restore, Restore, "back", "Failed"],
  ["a plan that never runs", plan({ schedule: never }), BackupPlan, "often", "ScheduleRefused"],
  ["a plan whose backup has failed", plan({ instance, deadlineSeconds: 10 }), BackupPlan, "often", "BackupFailed"],
  ["a drill that never runs", drill({ schedule: never }), RestoreDrill, "proof", "ScheduleRefused"],
  ["a drill that has failed", drill({ instance }), RestoreDrill, "proof", "DrillFailed"],
];

async function setUp(seed: number): Promise<Stage> {
  const stage = await setUpWith(seed);
  await stage.world.apply(storeClaim);
  return stage;
}

test.each(situations)("%s says so in Progressing", async (_, object, kind, name, reason) => {
  const { world } = await setUp(1);
  await using _world = world;
  await world.apply(object);
  await world.run(minutes(7) + seconds(30));
  expect(conditionOf(await world.get(kind, name), "Progressing")).toMatchObject({ status: "False", reason });
});

test("a plan whose next backup is good has reached its desired state again", async () => {
  const stage = await setUp(2);
  const { world, transfers } = stage;
  await using _ = world;
  transfers.vault.isFailing = true;
  await world.apply(plan({ attempts: 1 }));
  await world.run(minutes(7));
  const progressing = async (): Promise<object | undefined> =>
    conditionOf(await world.get(BackupPlan, "often"), "Progressing");
  expect(await progressing()).toMatchObject({ reason: "BackupFailed" });
  transfers.vault.isFailing = false;
  await world.run(minutes(5));
  expect(await progressing()).toMatchObject({ status: "False", reason: "DesiredStateReached" });
});
