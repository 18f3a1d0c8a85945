/**
 * Changes of the spec that need other pods or other volumes reach members that run; in the simulated world.
 */
import { PersistentVolumeClaim, Pod, PodDisruptionBudget } from "setpoint/kinds";
import { seconds } from "setpoint";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  expectHealthy,
  memberNames,
  scenario,
  setUp,
  type Stage,
  whileSomebodyWrites,
} from "./testing/etcd-stage.ts";

async function change({ world }: Stage, spec: object): Promise<void> {
  await world.patch(EtcdCluster, "orders", { spec });
  await world.run(seconds(1));
}

async function memoryOf({ world }: Stage): Promise<readonly unknown[]> {
  const pods = await world.list(Pod);
  return pods.map(({ spec }) => spec?.containers[0]?.resources?.requests?.["memory"]);
}

async function flags({ world }: Stage): Promise<readonly string[]> {
  return (await world.list(Pod)).flatMap(({ spec }) => spec?.containers[0]?.args ?? []);
}

const larger = { pod: { resources: { requests: { memory: "64Mi" } } } };

test(
  "a change of pod reaches all members on their volumes, one at a time, the leader last",
  scenario(301, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, claims);
    const before = memberNames(stage);
    const from = world.trace.length;
    await whileSomebodyWrites(stage, () => change(stage, larger));
    expect(memberNames(stage)).toEqual(before);
    expect(await memoryOf(stage)).toEqual(["64Mi", "64Mi", "64Mi"]);
    const moves = world.trace.slice(from).filter((line) => line.includes("etcd move leader"));
    expect(moves).toHaveLength(1);
  }),
);

test(
  "a change of options while the version changes restarts each member once",
  scenario(302, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, claims);
    const from = world.trace.length;
    await whileSomebodyWrites(stage, () => change(stage, { version: "3.5.16", options: { "snapshot-count": "5000" } }));
    expect((await flags(stage)).filter((flag) => flag === "--snapshot-count=5000")).toHaveLength(3);
    const stopped = world.trace.slice(from).filter((line) => /etcd +DELETE default\/pods/.test(line));
    expect(stopped).toHaveLength(3);
  }),
);

test.each([1, 3] as const)("members without volumes are replaced by new ones, of a cluster of %i", (size) =>
  scenario(303, async (stage) => {
    await bootstrap(stage, { size });
    const before = memberNames(stage);
    await whileSomebodyWrites(stage, () => change(stage, larger));
    expect(memberNames(stage).filter((name) => before.includes(name))).toEqual([]);
    expect(await memoryOf(stage)).toEqual(Array.from({ length: size }, () => "64Mi"));
  })(),
);

test(
  "no member restarts for new settings while another one is away",
  scenario(304, async (stage) => {
    const { world, etcd } = stage;
    await bootstrap(stage, claims);
    await world.run(seconds(10));
    await whileSomebodyWrites(stage, async () => {
      world.kill(memberNames(stage).find((name) => name !== etcd.leader("orders")) ?? "");
      await change(stage, larger);
    });
    expect(await memoryOf(stage)).toEqual(["64Mi", "64Mi", "64Mi"]);
  }),
);

test(
  "volumes grow with the spec and never shrink",
  scenario(305, async (stage) => {
    const { world } = stage;
    await bootstrap(stage, claims);
    const storage = (size: string): object => ({
      volumeClaimTemplate: { ...claims.volumeClaimTemplate, resources: { requests: { storage: size } } },
    });
    await change(stage, storage("2Gi"));
    await world.settled();
    const sizes = (await world.list(PersistentVolumeClaim)).map(({ spec }) => spec?.resources?.requests?.["storage"]);
    expect(sizes).toEqual(["2Gi", "2Gi", "2Gi"]);
    await expectHealthy(stage);
    await expect(change(stage, storage("1Gi"))).rejects.toThrow("only grow");
  }),
);

test("a drain may take one member at a time, and the budget follows the size", async () => {
  const stage = await setUp(306);
  await using world = stage.world;
  await bootstrap(stage, claims);
  expect((await world.get(PodDisruptionBudget, "orders")).spec?.minAvailable).toBe(2);
  await change(stage, { size: 7 });
  await world.settled();
  await expectHealthy(stage);
  expect((await world.get(PodDisruptionBudget, "orders")).spec?.minAvailable).toBe(6);
  await world.patch(PodDisruptionBudget, "orders", { spec: { minAvailable: 0 } });
  await world.settled();
  expect((await world.get(PodDisruptionBudget, "orders")).spec?.minAvailable).toBe(6);
});

test("members spread over zones and nodes", async () => {
  const stage = await setUp(307);
  await using world = stage.world;
  await bootstrap(stage, claims);
  for (const { spec } of await world.list(Pod)) {
    const keys = spec?.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey);
    expect(keys).toEqual(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
  }
});
