/**
 * Backups of a real etcd by the installed operator: to a claim, verified, refused when the stored file is
 * damaged, restored into a new cluster and in place, and taken on a schedule with retention.
 */
import type { Client } from "@setpoint/client";
import { Backup, BackupPlan } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backUp, createStore, damage, instanceOf, removeStore, restore } from "../examples/etcd/tour/backups.ts";
import { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient } from "../examples/etcd/tour/etcd-client.ts";
import { Playground } from "./etcd/playground.ts";
import { versionsUnderTest } from "./etcd/versions.ts";

const namespace = "default";
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const volume = {
  volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "256Mi" } } },
} as const;
const endMsMax = 90_000;

let playground: Playground;
let client: Client;
beforeAll(async () => {
  playground = await Playground.open();
  ({ client } = playground);
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function podUids(cluster: ClusterUnderTour): Promise<ReadonlySet<string | undefined>> {
  return new Set((await cluster.pods()).map(({ metadata }) => metadata.uid));
}

async function put(cluster: ClusterUnderTour, value: string): Promise<void> {
  const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
  await etcd.put("key", value);
  etcd.close();
}

test.each(versionsUnderTest("3.5.16"))(
  "a cluster of etcd %s is backed up, restored into a new one and in place, and nothing is touched for damaged data",
  async (version) => {
    const name = `v${version.replaceAll(".", "-")}`;
    const story = async (cluster: ClusterUnderTour): Promise<void> => {
      await createStore(cluster, "vault");
      await put(cluster, "first");
      const backup = await backUp(cluster, "vault", `${name}-good`);
      expect(backup.status, JSON.stringify(backup.status)).toMatchObject({
        phase: "Succeeded",
        engineVersion: version,
      });
      await put(cluster, "second");
      const { clusterID } = (await cluster.get()).status ?? {};

      // into a new cluster
      const copyName = `${name}-copy`;
      const copied = await restore(cluster, `${name}-new`, `${name}-good`, { newInstance: { name: copyName } });
      expect(copied.status, JSON.stringify(copied.status)).toMatchObject({ phase: "Succeeded" });
      const copy = new ClusterUnderTour(client, copyName, namespace, operator);
      await copy.until("all members of the copy", () => copy.isSettled(3), endMsMax);
      expect(await copy.valueOf("key")).toBe("first");
      expect(await cluster.valueOf("key")).toBe("second");
      expect((await copy.get()).status?.clusterID).not.toBe(clusterID);
      await client.delete(EtcdCluster, { name: copyName, namespace });

      // in place
      const inPlace = await restore(cluster, `${name}-in-place`, `${name}-good`, { inPlace: {} });
      expect(inPlace.status, JSON.stringify(inPlace.status)).toMatchObject({ phase: "Succeeded" });
      console.log(`etcd ${version}: restored in place within ${inPlace.status?.recoverySeconds} s`);
      await cluster.until("all members on the restored data", () => cluster.isSettled(3), endMsMax);
      expect(await cluster.valueOf("key")).toBe("first");
      expect((await cluster.get()).status?.clusterID).not.toBe(clusterID);

      // what is damaged restores nothing, and touches nothing
      await damage(cluster, "vault", backup);
      const before = await podUids(cluster);
      const refused = await restore(cluster, `${name}-refused`, `${name}-good`, { inPlace: {} });
      expect(refused.status).toMatchObject({ phase: "Failed" });
      expect(refused.status?.message).toContain("BackupDamaged");
      expect(await podUids(cluster)).toEqual(before);
      await removeStore(cluster, "vault");
    };
    await playground.tell(name, { size: 3, version, ...volume }, story, { losesWrites: true });
  },
);

test("a plan takes a backup every few seconds, and keeps the newest two", async () => {
  await playground.tell("planned", { size: 1, version: "3.5.16", ...volume }, async (cluster) => {
    await createStore(cluster, "vault");
    await put(cluster, "planned");
    const spec = {
      ...{ instance: instanceOf(cluster), store: "vault", schedule: "*/4 * * * * *" },
      retention: { keepLast: 2 },
    };
    await client.create(BackupPlan, BackupPlan({ name: "often", namespace, spec }));
    const plan = (): Promise<BackupPlan> => client.get(BackupPlan, { name: "often", namespace });
    const backups = async (): Promise<readonly Backup[]> =>
      (await client.listAll(Backup, { namespace, labelSelector: "data.setpoint.dev/plan=often" })).items;
    const seen = new Set<string>();
    const hasTakenFive = async (): Promise<boolean> => {
      for (const { metadata } of await backups()) seen.add(metadata.name ?? "");
      return seen.size >= 5;
    };
    await cluster.until("five backups", hasTakenFive, endMsMax);
    await client.patch(BackupPlan, { name: "often", namespace }, { spec: { suspend: true } });
    const isAtRest = async (): Promise<boolean> => {
      const left = await backups();
      return left.length === 2 && left.every(({ status }) => status?.phase === "Succeeded");
    };
    await cluster.until("two backups at rest", isAtRest, endMsMax);
    expect((await plan()).status).toMatchObject({ goodBackups: 2, message: "the plan is suspended" });
    await client.delete(BackupPlan, { name: "often", namespace });
    await removeStore(cluster, "vault");
  });
});
