/** Clusters that hibernate, and instances that a user keeps stopped, in the simulated world. */
import { Operation } from "@setpoint/data-service";
import { minutes, seconds } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { labels } from "./kind/labels.ts";
import { PostgresCluster } from "./kind/postgres-cluster.ts";
import { begin, expectHealthy, orders, quiet, scenario, type Stage, synchronous } from "./testing/postgres-stage.ts";

const instance = { apiGroup: "postgres.setpoint.dev", kind: "PostgresCluster", name: "orders" };

async function podNames({ world }: Stage): Promise<readonly string[]> {
  return (await world.list(Pod)).map(({ metadata }) => metadata.name ?? "").toSorted();
}

async function fence({ world }: Stage, members: readonly string[], allowQuorumLoss = false): Promise<void> {
  const fencing = members.length === 0 ? null : { members, allowQuorumLoss };
  await world.patch(PostgresCluster, "orders", { spec: { fencing } });
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
  "a fenced replica stops, its pod stays, and it follows again when it is released",
  scenario(304, async (stage) => {
    const { world, postgres } = stage;
    const writer = await begin(stage, synchronous);
    await fence(stage, ["orders-2"]);
    await world.run(minutes(1));
    const fenced = await orders(stage);
    expect(fenced.status).toMatchObject({
      phase: "Fenced",
      primary: "orders-1",
      fencing: { members: [{ name: "orders-2", state: "Stopped" }] },
    });
    expect(conditionOf(fenced, "Fenced")).toMatchObject({ status: "True", reason: "MembersFenced" });
    expect(conditionOf(fenced, "Available")).toMatchObject({ status: "True" });
    expect(await podNames(stage)).toEqual(["orders-1", "orders-2", "orders-3"]);
    expect(postgres.server("orders-2").isAlive).toBe(false);
    expect(writer.longestGapMs).toBeLessThan(1_000);
    await quiet(stage);

    await fence(stage, []);
    await world.settled();
    await expectHealthy(stage);
    expect((await orders(stage)).status?.fencing).toBeUndefined();
  }),
);

test(
  "the primary is fenced only with consent; nobody takes its place, unless a user asks for that",
  scenario(305, async (stage) => {
    const { world, postgres } = stage;
    await begin(stage, synchronous);
    await fence(stage, ["orders-1"]);
    await world.settled();
    const refused = await orders(stage);
    expect(refused.status).toMatchObject({ phase: "Running" });
    expect(conditionOf(refused, "Fenced")).toMatchObject({ status: "False", reason: "FencingRefused" });
    expect(conditionOf(refused, "Fenced")?.message).toContain("first ask for another primary by the annotation");

    await fence(stage, ["orders-1"], true);
    await world.run(minutes(1));
    await world.run(minutes(5));
    const fenced = await orders(stage);
    expect(fenced.status).toMatchObject({ phase: "Fenced", primary: "orders-1", term: refused.status?.term });
    expect(conditionOf(fenced, "Available")).toMatchObject({ status: "False", reason: "PrimaryFenced" });
    expect(postgres.primary()).toBeUndefined();

    // Released, it goes on as the primary.
    await fence(stage, []);
    await world.settled();
    await expectHealthy(stage);
    expect((await orders(stage)).status).toMatchObject({ primary: "orders-1", term: refused.status?.term });

    await fence(stage, ["orders-1"], true);
    await world.run(minutes(1));
    await world.patch(PostgresCluster, "orders", { metadata: { annotations: { [labels.switchover]: "orders-3" } } });
    await world.run(minutes(1));
    const taken = await orders(stage);
    expect(taken.status).toMatchObject({ phase: "Fenced", primary: "orders-3" });
    expect(taken.status?.lastFailover).toBeUndefined();
    await fence(stage, []);
    await world.settled();
    await expectHealthy(stage);
    expect(postgres.ledger.losses).toEqual([]);
  }),
);

test(
  "a failover passes over a fenced replica, and a fenced instance stays fenced when its process dies",
  scenario(306, async (stage) => {
    const { world, postgres } = stage;
    await begin(stage);
    await fence(stage, ["orders-2"]);
    await world.run(minutes(1));
    world.kill("orders-2");
    world.kill("orders-1");
    await world.run(minutes(1));
    expect((await orders(stage)).status).toMatchObject({ phase: "Fenced", primary: "orders-3" });
    expect(postgres.server("orders-2").isAlive).toBe(false);
    expect(postgres.violations).toEqual([]);
    await fence(stage, []);
    await world.settled();
    await expectHealthy(stage);
  }),
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
