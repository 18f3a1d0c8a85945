/**
 * CoreOS' acceptance tests of its etcd operator (their names stand in the comments), against real etcd on our
 * own control plane, with what they leave out. Under every story a writer runs, of which nothing may be lost.
 * Those in which members are replaced or added are in `etcd-members.test.ts`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PersistentVolumeClaim, Pod } from "@setpoint/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { memberProcess } from "../examples/etcd/tour/member-process.ts";
import { checkHashes, upgrade, writeAndRead } from "../examples/etcd/tour/steps.ts";
import { Playground } from "./etcd/playground.ts";

const old = "3.4.23";
const recent = "3.5.16";
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
/** Longer than the operator needs to notice a dead member and to act. */
const noticeMs = 4_000;

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function follower(cluster: ClusterUnderTour): Promise<string> {
  const found = (await cluster.members()).find(({ role }) => role === "Follower");
  if (found === undefined) throw new Error("there is no follower");
  return found.name;
}

/** Name → UID of every claim of the cluster. */
async function claims(cluster: ClusterUnderTour): Promise<ReadonlyMap<string, string>> {
  const { items } = await playground.client.listAll(PersistentVolumeClaim, {
    namespace: cluster.namespace,
    labelSelector: cluster.selector,
  });
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]));
}

// A4: TestReadyMembersStatus
test("a cluster of one member says that it has one", async () => {
  await playground.tell("one", { size: 1, version: recent }, async (cluster) => {
    const { status } = await cluster.get();
    expect(status?.members.filter(({ healthy }) => healthy)).toHaveLength(1);
    expect(status?.readyMembers).toBe(1);
  });
});

// A1: TestCreateCluster
test("three members come up, and keys are written and read through the client Service", async () => {
  await playground.tell("create", { size: 3, version: recent }, async (cluster, writer) => {
    await writeAndRead.run(cluster, writer);
    await checkHashes(cluster, 3);
  });
});

// A2: TestPauseControl
test("a paused cluster says so and is not healed until it is resumed", async () => {
  await playground.tell("pause", { size: 3, version: recent }, async (cluster) => {
    await cluster.patch({ paused: true });
    await cluster.until("the pause", async () => (await cluster.get()).status?.phase === "Paused");
    const victim = await follower(cluster);
    process.kill(memberProcess(victim), "SIGKILL");
    const isSeen = async (): Promise<boolean> => (await cluster.get()).status?.readyMembers === 2;
    await cluster.until("the status with two ready members", isSeen);
    await sleep(noticeMs);
    const { status } = await cluster.get();
    expect(status).toMatchObject({ phase: "Paused", readyMembers: 2 });
    expect((await cluster.etcdMembers()).map(({ name }) => name)).toContain(victim);
    await cluster.patch({ paused: false });
    await cluster.until("healing after the pause", () => cluster.isSettled(3));
    expect((await cluster.etcdMembers()).map(({ name }) => name)).not.toContain(victim);
  });
});

// A3: TestEtcdUpgrade
test("an upgrade goes member by member, the leader last, under writes", async () => {
  await playground.tell("upgrade", { size: 3, version: old, volumeClaimTemplate }, async (cluster, writer) => {
    await upgrade.run(cluster, writer);
  });
});

// A5: TestCreateClusterWithPV
test("members keep their volumes when their pods are deleted, and when all die at once", async () => {
  await playground.tell("volumes", { size: 3, version: recent, volumeClaimTemplate }, async (cluster, writer) => {
    await writeAndRead.run(cluster, writer);
    const before = await claims(cluster);
    expect(before.size).toBe(3);
    const victim = await follower(cluster);
    await playground.client.delete(Pod, { name: victim, namespace: cluster.namespace });
    const isBack = async (): Promise<boolean> => (await readyPods(cluster)).includes(victim);
    await cluster.until("the end of the pod", async () => !(await isBack()));
    await cluster.until("the return of the pod", async () => (await isBack()) && (await cluster.isSettled(3)));
    expect(await claims(cluster)).toEqual(before);
    for (const { name } of await cluster.members()) process.kill(memberProcess(name), "SIGKILL");
    await cluster.until("the end of all members", async () => (await readyPods(cluster)).length === 0);
    // The status may still be that from before the kill, so it counts only together with the pods.
    const areBack = async (): Promise<boolean> => (await readyPods(cluster)).length === 3 && cluster.isSettled(3);
    await cluster.until("the return of all members", areBack);
    // As soon as two are back, they are a quorum that replaces the third, if its end is reported late.
    const kept = [...(await claims(cluster))].filter(([name, uid]) => before.get(name) === uid);
    expect(kept.length).toBeGreaterThanOrEqual(2);
    expect(await cluster.valueOf("greeting")).toBe("hello");
    await checkHashes(cluster, 3);
  });
});

async function readyPods(cluster: ClusterUnderTour): Promise<readonly string[]> {
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
  return (await cluster.pods()).filter(isReady).map(({ metadata }) => metadata.name ?? "");
}
