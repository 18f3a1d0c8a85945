/** An operator that takes over the clusters of an earlier release; in the simulated world. */
import { PersistentVolumeClaim } from "setpoint/kinds";
import { type EtcdWriter, conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { clusterOfFirstRelease, placeFirstRelease } from "./testing/first-release.ts";
import { expectHealthy, expectNothingLost, scenario, type Stage, startWriter, podUids } from "./testing/etcd-stage.ts";

/** The cluster runs in the pods of the earlier release, and that operator is gone. */
async function runInOldPods({ world, etcd }: Stage): Promise<void> {
  world.stopOperator();
  await placeFirstRelease(world, etcd);
}

async function takeOver(stage: Stage): Promise<EtcdWriter> {
  const { world } = stage;
  await runInOldPods(stage);
  const writer = startWriter(stage);
  await world.restartOperator();
  await world.settled();
  return writer;
}

test(
  "the members of an earlier release go on in their pods, and the cluster is healthy",
  scenario(801, async (stage) => {
    const { world } = stage;
    await runInOldPods(stage);
    const before = await podUids(stage);
    const writer = startWriter(stage);
    await world.restartOperator();
    await world.settled();
    await world.run(60_000);
    expect(await podUids(stage)).toEqual(before);
    await expectHealthy(stage);
    const { status } = await world.get(EtcdCluster, "orders");
    expect(status?.clusterID).toBe(clusterOfFirstRelease().status?.clusterID);
    expect(conditionOf(await world.get(EtcdCluster, "orders"), "Accepted")?.status).toBe("True");
    await expectNothingLost(world, writer);
    writer.stop();
    await world.expectQuiet();
  }),
);

test.each([
  ["a change of options", { options: { "snapshot-count": "6000" } }],
  ["an option that is removed", { options: null }],
  ["a change of resources", { pod: { resources: { requests: { memory: "64Mi" } } } }],
  ["an upgrade", { version: "3.5.16", options: { "snapshot-count": "6000" } }],
])("after that, %s restarts each member once, the leader last, on its volume", (_, spec) =>
  scenario(802, async (stage) => {
    const { world } = stage;
    const writer = await takeOver(stage);
    const before = await podUids(stage);
    const volumes = (await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.uid).sort();
    const from = world.trace.length;
    await world.patch(EtcdCluster, "orders", { spec });
    await world.settled();
    expect((await podUids(stage)).filter((uid) => before.includes(uid))).toEqual([]);
    const lines = world.trace.slice(from);
    expect(lines.filter((line) => /etcd +DELETE default\/pods/.test(line))).toHaveLength(3);
    expect(lines.filter((line) => line.includes("etcd move leader"))).toHaveLength(1);
    expect((await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.uid).sort()).toEqual(volumes);
    await expectHealthy(stage);
    await expectNothingLost(world, writer);
    writer.stop();
    await world.expectQuiet();
  })(),
);

test(
  "a member of an earlier release that dies is replaced by one of this release",
  scenario(803, async (stage) => {
    const { world, etcd } = stage;
    const writer = await takeOver(stage);
    const victim = etcd.members("orders").find(({ name }) => name !== etcd.leader("orders"))?.name ?? "";
    world.kill(victim);
    await world.settled();
    await expectHealthy(stage);
    await expectNothingLost(world, writer);
    writer.stop();
    await world.expectQuiet();
  }),
);
