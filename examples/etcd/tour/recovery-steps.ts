/**
 * The steps of the tour that lose data on purpose and get them back: backup, restore, a damaged backup, a
 * lost quorum.
 */
import { systemClock } from "@setpoint/host/system";
import { Backup } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { backUp, createStore, damage, removeStore, restore } from "./backups.ts";
import { type ClusterUnderTour, TourError } from "./cluster-under-tour.ts";
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
export function copyOf(cluster: ClusterUnderTour): ClusterUnderTour {
  return cluster.beside(`${cluster.name}-copy`);
}

async function checkValue(cluster: ClusterUnderTour): Promise<void> {
  if ((await cluster.valueOf(key)) !== value)
    throw new TourError(`${cluster.name} does not have the key from before the backup`);
}

const takeBackup: TourStep = {
  name: "back up to a claim, and read the backup back",
  async run(cluster) {
    const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
    await etcd.put(key, value).finally(() => etcd.close());
    await createStore(cluster, storeName);
    const { status } = await backUp(cluster, storeName, backupName);
    if (status?.phase !== "Succeeded") throw new TourError(`the backup failed: ${status?.message}`);
    return `${Math.round((status.dataBytes ?? 0) / 1_024)} kB up to revision ${status.position}, verified`;
  },
};

const restoreCopy: TourStep = {
  name: "restore the backup into a new cluster",
  async run(cluster) {
    const copy = copyOf(cluster);
    const startedMs = systemClock.monotonic();
    const newInstance = { name: copy.name, spec: { quorumRecovery: { policy: "onApproval", fencingSeconds: 10 } } };
    const { status } = await restore(cluster, "tour-copy", backupName, { newInstance });
    if (status?.phase !== "Succeeded") throw new TourError(`the restore failed: ${status?.message}`);
    await copy.until("three members of the copy", () => copy.isSettled(3), endMsMax);
    await checkValue(copy);
    return `serves after ${status.recoverySeconds} s, 3 members after ${seconds(systemClock.monotonic() - startedMs)}`;
  },
};

const refuseDamaged: TourStep = {
  name: "refuse to restore a damaged backup in place",
  async run(cluster) {
    const { client, namespace } = cluster;
    await damage(cluster, storeName, await client.get(Backup, { name: backupName, namespace }));
    const podUids = async (): Promise<string> => (await cluster.pods()).map(({ metadata }) => metadata.uid).join();
    const before = await podUids();
    const { status } = await restore(cluster, "tour-damaged", backupName, { inPlace: {} });
    if (status?.phase !== "Failed") throw new TourError("a damaged backup was restored");
    if ((await podUids()) !== before) throw new TourError("members were touched for a backup that is damaged");
    return status.message ?? "";
  },
};

const recoverQuorum: TourStep = {
  name: "lose two of three members with their volumes, and recover with consent",
  async run(cluster) {
    const copy = copyOf(cluster);
    const survivor = await loseMajority(copy);
    const approval = async (): Promise<string> => (await copy.get()).status?.quorumRecovery?.approval ?? "";
    await copy.until("the report of the loss", async () => (await approval()) !== "", endMsMax);
    const annotations = { "etcd.setpoint.dev/approve-quorum-recovery": await approval() };
    const { name, namespace } = copy;
    await copy.client.patch(EtcdCluster, { name, namespace }, { metadata: { annotations } });
    const tookMs = await copy.until("three members again", () => copy.isSettled(3), endMsMax);
    await checkHashes(copy, 3);
    await checkValue(copy);
    return `waited for consent, went on from ${survivor}, 3 members ${seconds(tookMs)} after it`;
  },
};

/**
 * All members but the leader end with their volumes; the leader has everything that was acknowledged. Returns
 * its name.
 */
export async function loseMajority(cluster: ClusterUnderTour): Promise<string> {
  const { client, namespace } = cluster;
  const { name: survivor } = await cluster.leader();
  const lost = (await cluster.members()).map(({ name }) => name).filter((name) => name !== survivor);
  for (const name of lost) await client.delete(PersistentVolumeClaim, { name: `data-${name}`, namespace });
  for (const name of lost) process.kill(memberProcess(name), "SIGKILL");
  return survivor;
}

/** They need the cluster of the tour, and leave it as it was. */
export const recoverySteps: readonly TourStep[] = [takeBackup, restoreCopy, refuseDamaged, recoverQuorum];

/** Removes what the steps have created. */
export async function removeCopies(cluster: ClusterUnderTour): Promise<void> {
  const copy = copyOf(cluster);
  await copy.client.delete(EtcdCluster, { name: copy.name, namespace: copy.namespace });
  await copy.until("the end of the copy", () => copy.hasNoLeftovers(), endMsMax);
  await removeStore(cluster, storeName);
}
