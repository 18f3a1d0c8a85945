/** Clusters that hibernate, and instances that a user keeps stopped, in the simulated world. */
import { Operation } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { PostgresCluster } from "./kind/postgres-cluster.ts";
import { begin, expectHealthy, orders, quiet, scenario, type Stage, synchronous } from "./testing/postgres-stage.ts";

const instance = { apiGroup: "postgres.setpoint.dev", kind: "PostgresCluster", name: "orders" };

async function podNames({ world }: Stage): Promise<readonly string[]> {
  return (await world.list(Pod)).map(({ metadata }) => metadata.name ?? "").toSorted();
}

test.each([
  { replication: "synchronous", spec: synchronous },
  { replication: "asynchronous", spec: {} },
])("a cluster with $replication replication hibernates and wakes with the same primary and all commits", ({ spec }) =>
  scenario(301, async (stage) => {
    const { world, postgres } = stage;
    await begin(stage, spec);
    await world.run(seconds(5));
    const before = await orders(stage);
    const written = postgres.ledger.acknowledged.length;

    await world.patch(PostgresCluster, "orders", { spec: { hibernated: true } });
    await world.settled();
    const asleep = await orders(stage);
    expect(asleep.status).toMatchObject({ phase: "Hibernated", hibernation: { state: "Hibernated" } });
    expect(conditionOf(asleep, "Available")).toMatchObject({ status: "False", reason: "Hibernated" });
    expect(conditionOf(asleep, "Degraded")).toMatchObject({ status: "False", reason: "Hibernated" });
    expect(await podNames(stage)).toEqual([]);
    expect((await world.list(PersistentVolumeClaim)).length).toBe(3);
    expect(postgres.ledger.acknowledged.length).toBeGreaterThanOrEqual(written);
    await quiet(stage);

    await world.patch(PostgresCluster, "orders", { spec: { hibernated: false } });
    await world.settled();
    await expectHealthy(stage);
    const awake = await orders(stage);
    expect(awake.status).toMatchObject({ primary: "orders-1", term: before.status?.term });
    expect(awake.status?.lastFailover).toBeUndefined();
    expect(awake.status?.hibernation).toBeUndefined();
    expect(postgres.ledger.losses).toEqual([]);
  })(),
);

test(
  "operations hibernate and wake a cluster",
  scenario(303, async (stage) => {
    const { world } = stage;
    await begin(stage);
    await world.apply(Operation({ name: "sleep", spec: { instance, type: "Hibernate" } }));
    await world.run(minutes(1));
    expect((await world.get(Operation, "sleep")).status).toMatchObject({ phase: "Succeeded" });
    expect(await podNames(stage)).toEqual([]);
    await world.apply(Operation({ name: "wake", spec: { instance, type: "Wake" } }));
    await world.run(minutes(2));
    expect((await world.get(Operation, "wake")).status).toMatchObject({ phase: "Succeeded" });
    await expectHealthy(stage);
  }),
);
