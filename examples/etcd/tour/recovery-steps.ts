/** The steps of the tour that lose data on purpose and get them back: backup, restore, a damaged backup, a lost quorum. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, KindRef } from "@setpoint/client";
import { Backup, BackupStore, Restore } from "@setpoint/data-service";
import { agentPaths } from "@setpoint/data-service/agent";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { operatorImage } from "../../../tools/image/operator-image.ts";
import { ClusterUnderTour, TourError } from "./cluster-under-tour.ts";
import { etcdClient } from "./etcd-client.ts";
import { memberProcess } from "./member-process.ts";
import { checkHashes, type TourStep } from "./steps.ts";

const storeName = "tour-backups";
const backupName = "tour";
const key = "before-the-backup";
const value = "kept";
const endMsMax = 90_000;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** The cluster that the backup is restored into. */
function copyOf({ client, name, namespace, operator }: ClusterUnderTour): ClusterUnderTour {
  return new ClusterUnderTour(client, `${name}-copy`, namespace, operator);
}

function instanceOf({ name }: ClusterUnderTour): { apiGroup: string; kind: string; name: string } {
  return { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name };
}

/** The object when it has ended, one way or the other. */
async function ended<T extends Backup | Restore>(
  client: Client,
  kind: KindRef<T>,
  name: string,
  namespace: string,
): Promise<T> {
  for (const untilMs = performance.now() + endMsMax; ; await sleep(200)) {
    const object = await client.get(kind, { name, namespace });
    if (object.status?.phase === "Succeeded" || object.status?.phase === "Failed") return object;
    if (performance.now() > untilMs)
      throw new TourError(`${kind.kind} "${name}" did not end: ${object.status?.message ?? "it has no status"}`);
  }
}

async function restore(cluster: ClusterUnderTour, name: string, target: object): Promise<Restore> {
  const { client, namespace } = cluster;
  const spec = { instance: instanceOf(cluster), source: { backup: backupName }, ...target };
  await client.create(Restore, Restore({ name, namespace, spec }));
  return ended(client, Restore, name, namespace);
}

const backUp: TourStep = {
  name: "back up to a claim, and read the backup back",
  async run(cluster) {
    const { client, namespace } = cluster;
    const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
    await etcd.put(key, value).finally(() => etcd.close());
    const claim = { accessModes: ["ReadWriteOnce"] as const, resources: { requests: { storage: "256Mi" } } };
    await client.create(PersistentVolumeClaim, PersistentVolumeClaim({ name: storeName, namespace, spec: claim }));
    const store = { claim: { claimName: storeName } };
    await client.create(BackupStore, BackupStore({ name: storeName, namespace, spec: store }));
    const spec = { instance: instanceOf(cluster), store: storeName };
    await client.create(Backup, Backup({ name: backupName, namespace, spec }));
    const { status } = await ended(client, Backup, backupName, namespace);
    if (status?.phase !== "Succeeded") throw new TourError(`the backup failed: ${status?.message}`);
    return `${Math.round((status.dataBytes ?? 0) / 1_024)} kB up to revision ${status.position}, verified`;
  },
};

const restoreCopy: TourStep = {
  name: "restore the backup into a new cluster",
  async run(cluster) {
    const copy = copyOf(cluster);
    const startedMs = performance.now();
    const newInstance = { name: copy.name, spec: { quorumRecovery: { policy: "onApproval", fencingSeconds: 10 } } };
    const { status } = await restore(cluster, "tour-copy", { newInstance });
    if (status?.phase !== "Succeeded") throw new TourError(`the restore failed: ${status?.message}`);
    const servesMs = performance.now() - startedMs;
    await copy.until("three members of the copy", () => copy.isSettled(3), endMsMax);
    if ((await copy.valueOf(key)) !== value)
      throw new TourError("the copy does not have the key from before the backup");
    return `serves after ${seconds(servesMs)}, 3 members after ${seconds(performance.now() - startedMs)}`;
  },
};

const refuseDamaged: TourStep = {
  name: "refuse to restore a damaged backup in place",
  async run(cluster) {
    const { client, namespace } = cluster;
    const { status } = await client.get(Backup, { name: backupName, namespace });
    await flipByte(cluster, `${agentPaths.storeClaim}/${status?.object}/00000001`);
    const before = (await cluster.pods()).map(({ metadata }) => metadata.uid);
    const refused = await restore(cluster, "tour-damaged", { inPlace: {} });
    if (refused.status?.phase !== "Failed") throw new TourError("a damaged backup was restored");
    const after = (await cluster.pods()).map(({ metadata }) => metadata.uid);
    if (after.join() !== before.join()) throw new TourError("members were touched for a backup that is damaged");
    return refused.status.message ?? "";
  },
};

/** What a bad disk does: one bit of the stored file. */
async function flipByte({ client, namespace }: ClusterUnderTour, file: string): Promise<void> {
  const name = "tour-damage";
  const script = `const fs=require("fs");const b=fs.readFileSync("${file}");b[b.length>>1]^=1;fs.writeFileSync("${file}",b)`;
  const spec = {
    restartPolicy: "Never" as const,
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532 },
    volumes: [{ name: "store", persistentVolumeClaim: { claimName: storeName } }],
    containers: [
      {
        name: "script",
        image: operatorImage,
        command: ["node", "-e", script],
        volumeMounts: [{ name: "store", mountPath: agentPaths.storeClaim }],
      },
    ],
  };
  await client.create(Pod, Pod({ name, namespace, spec }));
  for (let phase: string | undefined; phase !== "Succeeded"; await sleep(100)) {
    phase = (await client.get(Pod, { name, namespace })).status?.phase;
    if (phase === "Failed") throw new TourError("the stored file could not be damaged");
  }
  await client.delete(Pod, { name, namespace });
}

const recoverQuorum: TourStep = {
  name: "lose two of three members with their volumes, and recover with consent",
  async run(cluster) {
    const copy = copyOf(cluster);
    const { client, name, namespace } = copy;
    const { name: survivor } = await copy.leader();
    const lost = (await copy.members()).map((member) => member.name).filter((member) => member !== survivor);
    for (const member of lost) await client.delete(PersistentVolumeClaim, { name: `data-${member}`, namespace });
    for (const member of lost) process.kill(memberProcess(member), "SIGKILL");
    const approval = async (): Promise<string> => (await copy.get()).status?.quorumRecovery?.approval ?? "";
    await copy.until("the report of the loss", async () => (await approval()) !== "", endMsMax);
    const annotations = { "etcd.setpoint.dev/approve-quorum-recovery": await approval() };
    const startedMs = performance.now();
    await client.patch(EtcdCluster, { name, namespace }, { metadata: { annotations } });
    await copy.until("three members again", () => copy.isSettled(3), endMsMax);
    const tookMs = performance.now() - startedMs;
    await checkHashes(copy, 3);
    if ((await copy.valueOf(key)) !== value) throw new TourError("the recovered cluster does not have its key");
    return `waited for consent, went on from ${survivor}, 3 members ${seconds(tookMs)} after it`;
  },
};

/** They need the cluster of the tour, and leave it as it was. */
export const recoverySteps: readonly TourStep[] = [backUp, restoreCopy, refuseDamaged, recoverQuorum];

/** Removes what the steps have created. */
export async function removeCopies(cluster: ClusterUnderTour): Promise<void> {
  const { client, namespace } = cluster;
  const copy = copyOf(cluster);
  const gone = (kind: KindRef, name: string): Promise<unknown> => client.delete(kind, { name, namespace });
  await gone(EtcdCluster, copy.name);
  await copy.until("the end of the copy", async () => (await copy.leftovers()).length === 0, endMsMax);
  for (const name of ["tour-copy", "tour-damaged"]) await gone(Restore, name);
  await gone(Backup, backupName);
  const isDeleted = async (): Promise<boolean> =>
    (await client.listAll(Backup, { namespace })).items.every(({ metadata }) => metadata.name !== backupName);
  await cluster.until("the end of the backup", isDeleted, endMsMax);
  await gone(BackupStore, storeName);
  await gone(PersistentVolumeClaim, storeName);
}
