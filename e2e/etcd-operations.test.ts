/** Operations on real etcd under writes: all members restart, are defragmented, and one is fenced. */
import { setTimeout as sleep } from "node:timers/promises";
import { PersistentVolumeClaim } from "@setpoint/api";
import { Operation } from "@setpoint/data-service";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { checkHashes, writeAndRead } from "../examples/etcd/tour/steps.ts";
import { Playground } from "./etcd/playground.ts";
import { processesWith } from "./processes.ts";

const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const operationMsMax = 90_000;
/** Longer than the operator takes to start a member whose pod is gone. */
const stayMs = 5_000;

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function carryOut(
  cluster: ClusterUnderTour,
  type: "Restart" | "Defragment" | "Fence" | "Unfence",
  more: { readonly member?: string } = {},
): Promise<number> {
  const { client } = playground;
  const { name, namespace } = cluster;
  const operation = { name: type.toLowerCase(), namespace };
  const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name };
  await client.create(Operation, Operation({ ...operation, spec: { instance, type, ...more } }));
  const phase = async (): Promise<string | undefined> => (await client.get(Operation, operation)).status?.phase;
  const tookMs = await cluster.until(`the end of ${type}`, async () => (await phase()) === "Succeeded", operationMsMax);
  await client.delete(Operation, operation);
  return tookMs;
}

test("members restart, are defragmented and fenced on request, one at a time, and nothing is lost", async () => {
  const spec = { size: 3, version: "3.5.16", volumeClaimTemplate } as const;
  await playground.tell("operations", spec, async (cluster, writer) => {
    await writeAndRead.run(cluster, writer);
    const uids = async (): Promise<readonly (string | undefined)[]> =>
      (await cluster.pods()).map(({ metadata }) => metadata.uid);
    const before = await uids();
    const restartMs = await carryOut(cluster, "Restart");
    expect((await uids()).filter((uid) => before.includes(uid))).toEqual([]);
    const defragmentMs = await carryOut(cluster, "Defragment");
    console.log(
      `all members restarted within ${Math.round(restartMs)} ms, defragmented ${Math.round(defragmentMs)} ms`,
    );
    const { status } = await cluster.get();
    expect(status?.defragmentation).toMatchObject({ reason: "Request" });
    expect([...(status?.defragmentation?.members ?? [])].sort()).toEqual(
      status?.members.map((each) => each.name).sort(),
    );
    await fenceOne(cluster);
  });
});

/** The leader stops with its process, and comes back on its own volume with all that was written since. */
async function fenceOne(cluster: ClusterUnderTour): Promise<void> {
  const { client } = playground;
  const { name: member, id } = await cluster.leader();
  const claim = { name: `data-${member}`, namespace: cluster.namespace };
  const volume = await client.get(PersistentVolumeClaim, claim);
  const fenceMs = await carryOut(cluster, "Fence", { member });
  expect(processesWith(`--name=${member}`)).toEqual([]);
  await sleep(stayMs);
  expect((await cluster.pods()).map(({ metadata }) => metadata.name)).not.toContain(member);
  expect((await cluster.get()).status).toMatchObject({ phase: "Fenced", readyMembers: 2, size: 3 });
  const unfenceMs = await carryOut(cluster, "Unfence", { member });
  expect((await cluster.members()).find((each) => each.name === member)).toMatchObject({ id, healthy: true });
  expect((await client.get(PersistentVolumeClaim, claim)).metadata.uid).toBe(volume.metadata.uid);
  await cluster.until("rest", () => cluster.isSettled(3), operationMsMax);
  await checkHashes(cluster, 3);
  console.log(`${member} was fenced within ${Math.round(fenceMs)} ms, and back within ${Math.round(unfenceMs)} ms`);
}
