/** Backups and restores of a cluster as a user makes them, and the damage that a bad disk does to them. */
import { sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import type { Client, KindRef } from "@setpoint/client";
import { Backup, BackupStore, dataLabels, Restore } from "@setpoint/data-service";
import { agentPaths } from "@setpoint/data-service/agent";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { operatorImage } from "../../../tools/image/operator-image.ts";
import { type ClusterUnderTour, TourError } from "./cluster-under-tour.ts";

const endMsMax = 90_000;
const pauseMs = 200;

export function instanceOf({ name }: ClusterUnderTour): { apiGroup: string; kind: string; name: string } {
  return { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name };
}

/** A claim and a BackupStore on it, both with this name. */
export async function createStore({ client, namespace }: ClusterUnderTour, name: string): Promise<void> {
  const claim = { accessModes: ["ReadWriteOnce"] as const, resources: { requests: { storage: "256Mi" } } };
  const labels = { [dataLabels.backupStore]: "true" };
  await client.create(PersistentVolumeClaim, PersistentVolumeClaim({ name, namespace, labels, spec: claim }));
  await client.create(BackupStore, BackupStore({ name, namespace, spec: { claim: { claimName: name } } }));
}

/** Deletes the store, after the Restores and Backups in it: a Backup deletes its data first. */
export async function removeStore(cluster: ClusterUnderTour, name: string): Promise<void> {
  const { client, namespace } = cluster;
  for (const kind of [Restore, Backup] as readonly KindRef[]) {
    const list = async (): Promise<readonly string[]> =>
      (await client.listAll(kind, { namespace })).items.map(({ metadata }) => metadata.name);
    for (const each of await list()) await client.delete(kind, { name: each, namespace });
    await cluster.until(`the end of all ${kind.kind}s`, async () => (await list()).length === 0, endMsMax);
  }
  await client.delete(BackupStore, { name, namespace });
  await client.delete(PersistentVolumeClaim, { name, namespace });
}

/** Resolves when the Backup has ended, one way or the other. */
export async function backUp(cluster: ClusterUnderTour, store: string, name: string): Promise<Backup> {
  const { client, namespace } = cluster;
  await client.create(Backup, Backup({ name, namespace, spec: { instance: instanceOf(cluster), store } }));
  return ended(client, Backup, name, namespace);
}

type RestoreTarget = Pick<Restore["spec"], "newInstance" | "inPlace">;

/** Resolves when the Restore has ended, one way or the other. */
export async function restore(
  cluster: ClusterUnderTour,
  name: string,
  backup: string,
  target: RestoreTarget,
): Promise<Restore> {
  const { client, namespace } = cluster;
  const spec = { instance: instanceOf(cluster), source: { backup }, ...target };
  await client.create(Restore, Restore({ name, namespace, spec }));
  return ended(client, Restore, name, namespace);
}

async function ended<T extends Backup | Restore>(
  client: Client,
  kind: KindRef<T>,
  name: string,
  namespace: string,
): Promise<T> {
  for (const untilMs = systemClock.monotonic() + endMsMax; ; await sleep(systemClock, pauseMs)) {
    const object = await client.get(kind, { name, namespace });
    if (object.status?.phase === "Succeeded" || object.status?.phase === "Failed") return object;
    if (systemClock.monotonic() > untilMs)
      throw new TourError(`${kind.kind} "${name}" did not end: ${JSON.stringify(object.status)}`);
  }
}

/** Flips one bit in the first part of a backup on a claim. */
export async function damage(cluster: ClusterUnderTour, store: string, backup: Backup): Promise<void> {
  const { client, namespace } = cluster;
  const name = `${cluster.name}-damage`;
  const file = `${agentPaths.storeClaim}/${backup.status?.object}/00000001`;
  const script = `const fs=require("fs");const b=fs.readFileSync("${file}");b[b.length>>1]^=1;fs.writeFileSync("${file}",b)`;
  const spec = {
    restartPolicy: "Never" as const,
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532 },
    volumes: [{ name: "store", persistentVolumeClaim: { claimName: store } }],
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
  for (let phase: string | undefined; phase !== "Succeeded"; await sleep(systemClock, pauseMs)) {
    phase = (await client.get(Pod, { name, namespace })).status?.phase;
    if (phase === "Failed") throw new TourError("the stored file could not be damaged");
  }
  await client.delete(Pod, { name, namespace });
}
