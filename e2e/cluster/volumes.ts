/** The volumes of a cluster without a provisioner: folders of its only node. */
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { PersistentVolume } from "@setpoint/api";
import type { Client } from "@setpoint/client";

/** One for each member that the tour makes, and for the store: a volume is used once. */
const volumes = 24;
/** The user of members and of transfer pods. */
const user = 65_532;
const node = "real-1";

type VolumeSpec = NonNullable<PersistentVolume["spec"]>;

/** The class of the one volume that only root may write to. */
export const refusedClass = "refuses-members";

/**
 * Volumes that a pod without root can write to, of both sorts: the kubelet gives those of type `local` to the
 * pod's fsGroup, and the others, to which it does nothing, have the right owner already. Neither they nor the
 * claims of the example name a class, so they are bound to each other.
 */
export async function createVolumes(client: Client, directory: string): Promise<void> {
  for (let i = 0; i < volumes; i++) {
    const name = `local-${String(i).padStart(2, "0")}`;
    const path = makeFolder(directory, name);
    if (i % 2 === 1) chownSync(path, user, user);
    await createVolume(client, name, i % 2 === 1 ? { hostPath: { path } } : localTo(path));
  }
}

/** Volumes that the kubelet gives to the group of any pod. */
export async function createLocalVolumes(client: Client, directory: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const name = `local-${String(i).padStart(2, "0")}`;
    await createVolume(client, name, localTo(makeFolder(directory, name)));
  }
}

/** A volume that belongs to root, for which a kubelet does not care about fsGroup. Returns its folder. */
export async function createRefusedVolume(client: Client, directory: string): Promise<string> {
  const path = makeFolder(directory, "of-root");
  await createVolume(client, "of-root", { hostPath: { path }, storageClassName: refusedClass });
  return path;
}

/** What the message of a member that cannot write asks for. */
export function giveToMembers(path: string): void {
  chownSync(path, user, user);
}

function makeFolder(directory: string, name: string): string {
  const path = join(directory, "volumes", name);
  mkdirSync(path, { recursive: true, mode: 0o755 });
  return path;
}

function localTo(path: string): VolumeSpec {
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In" as const, values: [node] }];
  return { local: { path }, nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } };
}

async function createVolume(client: Client, name: string, source: VolumeSpec): Promise<void> {
  const spec = {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"] as const,
    persistentVolumeReclaimPolicy: "Retain" as const,
    ...source,
  };
  await client.create(PersistentVolume, PersistentVolume({ name, spec }));
}
