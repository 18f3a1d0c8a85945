/** Data outlive what is deleted around them; in the simulated world. */
import { CustomResourceDefinition, PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { World } from "setpoint/testing";
import { minutes, seconds } from "setpoint";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  cluster,
  expectHealthy,
  expectNothingLost,
  setUp,
  startWriter,
} from "./testing/etcd-stage.ts";

const definition = "etcdclusters.etcd.setpoint.dev";

async function namesOf(world: World): Promise<readonly (string | undefined)[]> {
  return (await world.list(PersistentVolumeClaim)).map(({ metadata }) => metadata.name);
}

test.each(["Delete", "Retain"] as const)(
  "deleting the definition of EtcdCluster keeps all volumes under deletionPolicy %s",
  async (deletionPolicy) => {
    const stage = await setUp(51);
    await using world = stage.world;
    await bootstrap(stage, { ...claims, deletionPolicy });
    const before = await namesOf(world);
    stage.etcd.forgive();
    await world.delete(CustomResourceDefinition, definition);
    await world.run(minutes(5));
    expect(await namesOf(world)).toEqual(before);
    const owners = (await world.list(PersistentVolumeClaim)).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
    expect(owners).toEqual([]);
    expect(await world.list(Pod)).toEqual([]);
  },
);

test("an operator that is away when the definition is deleted keeps the volumes when it is back", async () => {
  const stage = await setUp(52);
  await using world = stage.world;
  await bootstrap(stage, claims);
  const before = await namesOf(world);
  world.stopOperator();
  stage.etcd.forgive();
  await world.delete(CustomResourceDefinition, definition);
  await world.run(minutes(5));
  expect(await namesOf(world)).toEqual(before);
  expect(await world.list(Pod)).toHaveLength(3);
  await world.restartOperator();
  await world.run(minutes(5));
  expect(await namesOf(world)).toEqual(before);
  expect(await world.list(Pod)).toEqual([]);
});

/** Gives the volumes that an earlier cluster has left to the present one, as docs/protection.md says. */
async function adopt(world: World): Promise<void> {
  const { metadata } = await world.get(EtcdCluster, "orders");
  const annotations = { "etcd.setpoint.dev/cluster-uid": metadata.uid };
  for (const claim of await world.list(PersistentVolumeClaim))
    await world.patch(PersistentVolumeClaim, claim.metadata.name ?? "", { metadata: { annotations } });
}

test("a new cluster of the name starts with the volumes that it is given, and nothing is lost", async () => {
  const stage = await setUp(53);
  await using world = stage.world;
  await bootstrap(stage, { ...claims, deletionPolicy: "Retain" });
  const before = await namesOf(world);
  const writer = startWriter(stage);
  await world.run(seconds(10));
  await world.delete(EtcdCluster, "orders");
  await world.settled();
  expect(await namesOf(world)).toEqual(before);
  await world.apply(cluster("orders", { ...claims, paused: true }));
  await world.run(seconds(5));
  await adopt(world);
  await world.patch(EtcdCluster, "orders", { spec: { paused: false } });
  await world.settled();
  await expectHealthy(stage);
  await expectNothingLost(world, writer);
  writer.stop();
  expect(await namesOf(world)).toEqual(before);
  await world.expectQuiet();
});

test("volumes that are given to a cluster which has started already are kept", async () => {
  const stage = await setUp(54);
  await using world = stage.world;
  await bootstrap(stage, { ...claims, deletionPolicy: "Retain" });
  const before = await namesOf(world);
  await world.delete(EtcdCluster, "orders");
  await world.settled();
  await world.apply(cluster("orders", { ...claims, size: 1 }));
  await world.settled();
  await adopt(world);
  await world.settled();
  expect(await namesOf(world)).toEqual(expect.arrayContaining([...before]));
  expect(await world.list(Pod)).toHaveLength(1);
  await world.expectQuiet();
});
