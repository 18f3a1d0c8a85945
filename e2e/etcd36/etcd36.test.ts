/**
 * A real etcd 3.6 with TLS under writes: it starts, grows back after a loss, is defragmented, is backed up
 * and restored, loses its quorum, and is reached from 3.5 without losing a write.
 */
import { Operation } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backUp, createStore, instanceOf, removeStore, restore } from "../../examples/etcd/tour/backups.ts";
import { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient } from "../../examples/etcd/tour/etcd-client.ts";
import { loseMajority } from "../../examples/etcd/tour/recovery-steps.ts";
import { checkHashes, killLeader, scale, upgradeTo, writeAndRead } from "../../examples/etcd/tour/steps.ts";
import { Playground } from "../etcd/playground.ts";
import { builtVersions, missingVersions } from "./built-versions.ts";

const namespace = "default";
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const tls = { mode: "Enabled" } as const;
const { v35, v36 } = builtVersions;
const endMsMax = 90_000;

let playground: Playground;
beforeAll(async () => {
  if (missingVersions === "") playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

const on36 = test.skipIf(missingVersions !== "");

async function put(cluster: ClusterUnderTour, value: string): Promise<void> {
  const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
  await etcd.put("key", value).finally(() => etcd.close());
}

on36("etcd 3.6 is written to, replaces a dead leader, grows and shrinks, and is defragmented", async () => {
  const spec = { size: 3, version: v36, volumeClaimTemplate, tls } as const;
  await playground.tell("new36", spec, async (cluster, writer) => {
    for (const step of [writeAndRead, killLeader, scale]) console.log(step.name, await step.run(cluster, writer));
    const { client } = playground;
    const key = { name: "new36-defragment", namespace };
    await client.create(Operation, Operation({ ...key, spec: { instance: instanceOf(cluster), type: "Defragment" } }));
    const isDone = async (): Promise<boolean> => (await client.get(Operation, key)).status?.phase === "Succeeded";
    await cluster.until("the defragmentation", isDone, endMsMax);
    await client.delete(Operation, key);
    const { status } = await cluster.get();
    expect(status?.defragmentation?.members).toHaveLength(3);
    expect(status?.latestRevision).toBeDefined();
  });
});

on36("members are upgraded from 3.5 to 3.6 one at a time, the leader last, and no write is lost", async () => {
  // 3.5 knows this option by its older name only, and ends at its start on any other.
  const options = { "compaction-batch-limit": "500" };
  await playground.tell(
    "up36",
    { size: 3, version: v35, volumeClaimTemplate, tls, options },
    async (cluster, writer) => {
      const { name } = await cluster.leader();
      console.log(`${v35} → ${v36}:`, await upgradeTo(cluster, writer, v36));
      expect((await cluster.leader()).name).not.toBe(name);
      // The members of 3.6 still grow and shrink with what 3.5 has left behind.
      console.log(await killLeader.run(cluster, writer));
      await expect(cluster.patch({ version: v35 })).rejects.toThrow("cannot be downgraded");
    },
  );
});

on36("etcd 3.6 is backed up, and restored into a new cluster and in place", async () => {
  const spec = { size: 3, version: v36, volumeClaimTemplate, tls } as const;
  const story = async (cluster: ClusterUnderTour): Promise<void> => {
    await createStore(cluster, "vault36");
    await put(cluster, "first");
    const { status } = await backUp(cluster, "vault36", "good36");
    expect(status, JSON.stringify(status)).toMatchObject({ phase: "Succeeded", engineVersion: v36 });
    await put(cluster, "second");
    const copied = await restore(cluster, "copy36-new", "good36", { newInstance: { name: "copy36" } });
    expect(copied.status, JSON.stringify(copied.status)).toMatchObject({ phase: "Succeeded" });
    const copy = new ClusterUnderTour(playground.client, "copy36", namespace, operator);
    await copy.until("all members of the copy", () => copy.isSettled(3, v36), endMsMax);
    expect(await copy.valueOf("key")).toBe("first");
    await playground.client.delete(EtcdCluster, { name: "copy36", namespace });
    const inPlace = await restore(cluster, "in-place36", "good36", { inPlace: {} });
    expect(inPlace.status, JSON.stringify(inPlace.status)).toMatchObject({ phase: "Succeeded" });
    await cluster.until("all members on the restored data", () => cluster.isSettled(3), endMsMax);
    expect(await cluster.valueOf("key")).toBe("first");
    await removeStore(cluster, "vault36");
  };
  await playground.tell("back36", spec, story, { losesWrites: true });
});

on36("etcd 3.6 goes on from one survivor after consent, and loses nothing", async () => {
  const quorumRecovery = { policy: "onApproval", fencingSeconds: 10, withoutCopy: false, keepCopySeconds: 0 } as const;
  const spec = { size: 3, version: v36, volumeClaimTemplate, tls, quorumRecovery } as const;
  await playground.tell("lost36", spec, async (cluster) => {
    const survivor = await loseMajority(cluster);
    const approval = async (): Promise<string> => (await cluster.get()).status?.quorumRecovery?.approval ?? "";
    await cluster.until("the report of the loss", async () => (await approval()) !== "", endMsMax);
    const annotations = { "etcd.setpoint.dev/approve-quorum-recovery": await approval() };
    await playground.client.patch(EtcdCluster, { name: "lost36", namespace }, { metadata: { annotations } });
    await cluster.until("three members", () => cluster.isSettled(3), endMsMax);
    expect((await cluster.get()).status?.quorumRecovery).toMatchObject({ survivor });
    await checkHashes(cluster, 3);
  });
});
