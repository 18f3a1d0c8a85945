/**
 * Persistent volumes as folders of this node. A claim whose class has the provisioner `setpoint.dev/folder`
 * is bound when a pod that uses it is scheduled here. Folder and volume are removed after the claim when the
 * reclaim policy is Delete.
 */
import {
  PersistentVolume,
  PersistentVolumeClaim,
  type PersistentVolumeSpec,
  type Pod,
  StorageClass,
} from "@setpoint/api";
import { join } from "node:path";
import { isAlreadyExists } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import { findObject } from "../cluster/find-object.ts";
import { podIdentity } from "../cluster/pod.ts";
import { removeTree } from "./remove-tree.ts";
import { preparePersistentFolder } from "./persistent-folder.ts";

/** The provisioner of StorageClasses whose volumes are folders of a node. */
export const folderProvisionerName = "setpoint.dev/folder";

export interface FolderProvisionerOptions {
  readonly client: Client;
  readonly log: Logger;
  readonly nodeName: string;
  /** The folder in which volumes lie. */
  readonly directory: string;
}

export interface FolderProvisioner {
  /** Binds the unbound claims of the pod. */
  provision(pod: Pod): Promise<void>;
  /** Removes volumes of this node whose claim was deleted. */
  reclaim(): Promise<void>;
}

const provisionedBy = "pv.kubernetes.io/provisioned-by";

export function createFolderProvisioner(options: FolderProvisionerOptions): FolderProvisioner {
  return {
    async provision(pod) {
      const { namespace } = podIdentity(pod);
      for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
        if (persistentVolumeClaim === undefined) continue;
        const claim = await findObject(options.client, PersistentVolumeClaim, {
          namespace,
          name: persistentVolumeClaim.claimName,
        });
        if (claim !== undefined && claim.status?.phase !== "Bound") await provisionClaim(options, claim);
      }
    },
    async reclaim() {
      const { items } = await options.client.listAll(PersistentVolume);
      for (const volume of items) if (isOurs(options, volume)) await reclaimVolume(options, volume);
    },
  };
}

async function provisionClaim(options: FolderProvisionerOptions, claim: PersistentVolumeClaim): Promise<void> {
  const { client, log } = options;
  const { storageClassName = "" } = claim.spec;
  const storageClass = await findObject(client, StorageClass, { name: storageClassName });
  if (storageClass?.provisioner !== folderProvisionerName) return;
  const { namespace, name, uid } = podIdentity(claim);
  const volumeName = `pvc-${uid}`;
  const path = join(options.directory, volumeName);
  preparePersistentFolder(path);
  try {
    await client.create(PersistentVolume, buildVolume(options, claim, volumeName, path, storageClass.reclaimPolicy));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  await client.patch(PersistentVolume, { name: volumeName }, { status: { phase: "Bound" } }, { subresource: "status" });
  await client.patch(
    PersistentVolumeClaim,
    { namespace, name },
    {
      metadata: {
        uid,
        annotations: { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" },
      },
      spec: { volumeName },
    },
  );
  const capacity = claim.spec.resources?.requests ?? {};
  await client.patch(
    PersistentVolumeClaim,
    { namespace, name },
    { status: { phase: "Bound", accessModes: claim.spec.accessModes ?? [], capacity } },
    { subresource: "status" },
  );
  log.info("Provisioned volume", { volume: volumeName, claim: `${namespace}/${name}` });
}

function buildVolume(
  { nodeName }: FolderProvisionerOptions,
  claim: PersistentVolumeClaim,
  name: string,
  path: string,
  reclaimPolicy: StorageClass["reclaimPolicy"],
): PersistentVolume {
  const { namespace, name: claimName, uid } = podIdentity(claim);
  const values = [{ key: "kubernetes.io/hostname", operator: "In" as const, values: [nodeName] }];
  const spec: PersistentVolumeSpec = {
    capacity: claim.spec.resources?.requests ?? {},
    accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"],
    volumeMode: "Filesystem",
    persistentVolumeReclaimPolicy: reclaimPolicy ?? "Delete",
    storageClassName: claim.spec.storageClassName ?? "",
    claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name: claimName, uid },
    hostPath: { path, type: "DirectoryOrCreate" },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: values }] } },
  };
  const annotations = { [provisionedBy]: folderProvisionerName, "setpoint.dev/node": nodeName };
  return PersistentVolume({ name, annotations, spec });
}

function isOurs({ nodeName }: FolderProvisionerOptions, { metadata }: PersistentVolume): boolean {
  return (
    metadata.annotations?.[provisionedBy] === folderProvisionerName &&
    metadata.annotations["setpoint.dev/node"] === nodeName
  );
}

async function reclaimVolume(
  { client, log, directory }: FolderProvisionerOptions,
  volume: Stored<PersistentVolume>,
): Promise<void> {
  const { namespace = "default", name = "", uid } = volume.spec.claimRef ?? {};
  const claim = await findObject(client, PersistentVolumeClaim, { namespace, name });
  // A new claim of the same name does not own this volume.
  if (claim?.metadata.uid === uid) return;
  const volumeName = volume.metadata.name;
  if (volume.spec.persistentVolumeReclaimPolicy !== "Delete") {
    if (volume.status?.phase !== "Released")
      await client.patch(
        PersistentVolume,
        { name: volumeName },
        { status: { phase: "Released" } },
        { subresource: "status" },
      );
    return;
  }
  await removeTree(join(directory, volumeName));
  // No pod uses the folder any more, so the protection finalizer is no longer needed.
  await client.patch(PersistentVolume, { name: volumeName }, { metadata: { finalizers: null } });
  await client
    .delete(PersistentVolume, { name: volumeName }, { preconditions: { uid: volume.metadata.uid } })
    .catch(() => {});
  log.info("Removed volume", { volume: volumeName });
}
