/** A cluster that sleeps and wakes, and operations on it, in the simulated world. */
import { Operation } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { minutes, seconds } from "setpoint";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  expectHealthy,
  memberNames,
  scenario,
  type Stage,
  startWriter,
} from "./testing/etcd-stage.ts";

async function phaseOf({ world }: Stage): Promise<string | undefined> {
  return (await world.get(EtcdCluster, "orders")).status?.phase;
}

const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "orders" };

test(
  "a cluster that hibernates stops all members, keeps their data, and wakes with them, whatever its policy for lost quorums",
  scenario(501, async (stage) => {
    const { world } = stage;
    const copies = { withoutCopy: false, keepCopySeconds: 60 };
    await bootstrap(stage, { ...claims, quorumRecovery: { policy: "afterTimeout", fencingSeconds: 60, ...copies } });
    const members = memberNames(stage);
    const writer = startWriter(stage);
    await world.run(seconds(10));
    writer.stop();
    // A user asked for it: no majority has to stay.
    stage.etcd.forgive();
    await world.patch(EtcdCluster, "orders", { spec: { hibernated: true } });
    await world.settled();
    expect(await phaseOf(stage)).toBe("Hibernated");
    expect(await world.list(Pod)).toEqual([]);
    expect((await world.list(PersistentVolumeClaim)).length).toBe(3);
    const asleep = await world.get(EtcdCluster, "orders");
    expect(conditionOf(asleep, "Degraded")).toMatchObject({ status: "False", reason: "Hibernated" });
    expect(conditionOf(asleep, "Available")).toMatchObject({ status: "False", reason: "Hibernated" });
    await world.expectQuiet();
    await world.patch(EtcdCluster, "orders", { spec: { hibernated: false } });
    await world.settled();
    await expectHealthy(stage);
    expect(memberNames(stage)).toEqual(members);
    expect((await world.wait(writer.check())).lost).toEqual([]);
  }),
);

test(
  "a cluster without volumes does not hibernate, and says why",
  scenario(502, async (stage) => {
    const { world } = stage;
    await bootstrap(stage);
    await world.patch(EtcdCluster, "orders", { spec: { hibernated: true } });
    await world.run(minutes(2));
    expect((await world.list(Pod)).length).toBe(3);
    const { status } = await world.get(EtcdCluster, "orders");
    expect(status?.waitingFor?.what).toMatch(/^cannot hibernate: members keep their data in their pods/);
  }),
);

test(
  "operations hibernate and wake a cluster, and hand its leadership over",
  scenario(503, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, { plan: "small" });
    const heir = memberNames(stage).find((name) => name !== etcd.leader("orders")) ?? "";
    await world.apply(Operation({ name: "switch", spec: { instance, type: "Switchover", member: heir } }));
    await world.run(seconds(30));
    expect((await world.get(Operation, "switch")).status).toMatchObject({ phase: "Succeeded" });
    expect(etcd.leader("orders")).toBe(heir);
    etcd.forgive();
    await world.apply(Operation({ name: "sleep", spec: { instance, type: "Hibernate" } }));
    await world.run(minutes(2));
    expect((await world.get(Operation, "sleep")).status).toMatchObject({ phase: "Succeeded" });
    expect(await world.list(Pod)).toEqual([]);
    await world.apply(Operation({ name: "wake", spec: { instance, type: "Wake" } }));
    await world.run(minutes(3));
    expect((await world.get(Operation, "wake")).status).toMatchObject({ phase: "Succeeded" });
    await expectHealthy(stage);
    await world.apply(Operation({ name: "wrong", spec: { instance, type: "Switchover" } }));
    await world.run(seconds(10));
    expect((await world.get(Operation, "wrong")).status).toMatchObject({ phase: "Rejected", reason: "MemberMissing" });
  }),
);
