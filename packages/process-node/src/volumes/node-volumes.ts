import { PersistentVolume, PersistentVolumeClaim, type Pod, type Volume } from "@setpoint/api";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { totalmem } from "node:os";
import type { Client } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import { quantityNumber } from "./downward-api.ts";
import { mountMemory, unmountBeneath } from "./memory-volume.ts";
import { findObject } from "../cluster/find-object.ts";
import { nodeError } from "../errors.ts";
import type { PodVolumes, PreparedVolume } from "./pod-volumes.ts";
import type { PodIds } from "../host/id-range.ts";
import { podIdentity } from "../cluster/pod.ts";
import { hostPath } from "./host-path.ts";
import { imageVolume, type VolumeImages } from "./image-volume.ts";
import { isRefusedVolume } from "./volume-refusals.ts";
import { type FolderContent, type FolderOwner, writeAtomicFolder } from "./atomic-folder.ts";
import { preparePersistentFolder } from "./persistent-folder.ts";
import { removeTree } from "./remove-tree.ts";
import { refuseLeaving } from "./refuse-leaving.ts";
import { type ContentSources, volumeContent } from "./volume-content.ts";
import { giveToGroup, volumeOwner } from "./volume-owner.ts";

export interface NodeVolumesOptions {
  readonly clock: Clock;
  readonly client: Client;
  podDirectory(podUid: string): string;
  /** As `podDirectory`, in memory: Secrets, tokens and emptyDirs that ask for it never reach a disk. */
  memoryDirectory(podUid: string): string;
  /** Holds the persistent volumes of this node; no other folder of the host can be one. */
  readonly persistentDirectory: string;
  /** Whether pods may mount what the host has; default: no. */
  readonly allowHost?: boolean;
  readonly images: VolumeImages;
  sources(pod: Pod): ContentSources;
  forget(podUid: string): void;
}

/**
 * Volumes of pods as folders of the host. Persistent volumes are kept elsewhere, and stay when the pod is
 * removed.
 */
export class NodeVolumes implements PodVolumes {
  readonly #options: NodeVolumesOptions;
  /** Hash of the content that was written last, by folder. */
  readonly #written = new Map<string, string>();
  /** By pod. */
  readonly #owners = new Map<string, FolderOwner | undefined>();

  constructor(options: NodeVolumesOptions) {
    this.#options = options;
  }

  async prepare(pod: Pod, ids?: PodIds): Promise<ReadonlyMap<string, PreparedVolume>> {
    this.#owners.set(podIdentity(pod).uid, ids === undefined ? undefined : folderOwner(ids, pod));
    const prepared = new Map<string, PreparedVolume>();
    // A refused volume is never mounted; the start of a container then fails with the reason.
    const volumes = (pod.spec.volumes ?? []).filter(
      (volume) => !isRefusedVolume(volume, this.#options.allowHost === true),
    );
    for (const volume of volumes) prepared.set(volume.name, await this.#prepareOne(pod, volume));
    return prepared;
  }

  async refresh(pod: Pod): Promise<void> {
    for (const volume of pod.spec.volumes ?? []) {
      const content = await volumeContent(volume, this.#options.sources(pod));
      if (content !== undefined) this.#write(pod, this.#contentFolder(pod, volume), content);
    }
  }

  async empty(podUid: string): Promise<void> {
    await this.#removeFolders(podUid, (directory) => join(directory, "volumes"));
  }

  async remove(podUid: string): Promise<void> {
    this.#owners.delete(podUid);
    this.#options.forget(podUid);
    await this.#removeFolders(podUid, (directory) => directory);
  }

  async #removeFolders(podUid: string, of: (podDirectory: string) => string): Promise<void> {
    const memory = this.#options.memoryDirectory(podUid);
    unmountBeneath(memory);
    for (const directory of [this.#options.podDirectory(podUid), memory].map(of)) {
      for (const folder of this.#written.keys()) if (folder.startsWith(directory)) this.#written.delete(folder);
      await removeTree(directory);
    }
  }

  async #prepareOne(pod: Pod, volume: Volume): Promise<PreparedVolume> {
    if (volume.emptyDir !== undefined) return { source: this.#emptyFolder(pod, volume), readOnly: false };
    if (volume.persistentVolumeClaim !== undefined) {
      const { claimName, readOnly } = volume.persistentVolumeClaim;
      const source = await this.#claimPath(pod, claimName);
      await giveToGroup(pod, source);
      return { source, readOnly: readOnly ?? false, ownIds: true };
    }
    if (volume.hostPath !== undefined) return { source: hostPath(volume.hostPath), readOnly: false, hasDevices: true };
    if (volume.image !== undefined) return imageVolume(this.#options.images, pod, volume.image);
    const content = await volumeContent(volume, this.#options.sources(pod));
    if (content === undefined)
      throw nodeError(
        "ERR_CONTAINER_CONFIG",
        `Cannot mount volume "${volume.name}": this node does not support its type`,
      );
    const folder = this.#contentFolder(pod, volume);
    this.#write(pod, folder, content);
    return { source: folder, readOnly: true };
  }

  /** Each user of the pod may write there, as in any emptyDir. */
  #emptyFolder(pod: Pod, volume: Volume): string {
    const folder = volume.emptyDir?.medium === "Memory" ? this.#memoryFolder(pod, volume) : this.#folder(pod, volume);
    mkdirSync(folder, { recursive: true });
    if (volume.emptyDir?.medium === "Memory") mountMemory(folder, memoryBytes(volume.emptyDir.sizeLimit));
    const owner = this.#owners.get(podIdentity(pod).uid);
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
    chmodSync(folder, owner?.isGroupShared === true ? 0o2777 : 0o777);
    return folder;
  }

  async #claimPath(pod: Pod, claimName: string): Promise<string> {
    const { namespace } = podIdentity(pod);
    const claim = await findObject(this.#options.client, PersistentVolumeClaim, { namespace, name: claimName });
    if (claim === undefined) throw nodeError("ERR_CONTAINER_CONFIG", `persistentvolumeclaim "${claimName}" not found`);
    refuseLeaving(claim, pod);
    const volumeName = claim.spec.volumeName ?? "";
    if (volumeName === "" || claim.status?.phase !== "Bound") {
      throw nodeError("ERR_CONTAINER_CONFIG", `persistentvolumeclaim "${claimName}" is not bound yet`);
    }
    const volume = await this.#options.client.get(PersistentVolume, { name: volumeName });
    const path = volume.spec.hostPath?.path ?? volume.spec.local?.path;
    if (path !== join(this.#options.persistentDirectory, volumeName)) {
      throw nodeError(
        "ERR_CONTAINER_CONFIG",
        `Cannot mount persistent volume "${volumeName}": it is not a folder of this node's own volumes`,
      );
    }
    preparePersistentFolder(path);
    return path;
  }

  /** Secrets and tokens are kept in memory, other content on disk. */
  #contentFolder(pod: Pod, volume: Volume): string {
    const isSecret = volume.secret !== undefined || volume.projected !== undefined;
    return isSecret ? this.#memoryFolder(pod, volume) : this.#folder(pod, volume);
  }

  #memoryFolder(pod: Pod, volume: Volume): string {
    return join(this.#options.memoryDirectory(podIdentity(pod).uid), "volumes", volume.name);
  }

  #folder(pod: Pod, volume: Volume): string {
    return join(this.#options.podDirectory(podIdentity(pod).uid), "volumes", volume.name);
  }

  #write(pod: Pod, folder: string, content: FolderContent): void {
    const hash = createHash("sha256");
    for (const [path, { data, mode }] of content)
      hash
        .update(`${path}\0${mode ?? ""}\0`)
        .update(data)
        .update("\0");
    const digest = hash.digest("hex");
    if (this.#written.get(folder) === digest) return;
    writeAtomicFolder(this.#options.clock, folder, content, this.#owners.get(podIdentity(pod).uid));
    this.#written.set(folder, digest);
  }
}

/** Without a limit of its own, a volume may take half of the memory, as any tmpfs. */
function memoryBytes(sizeLimit: string | undefined): number {
  return sizeLimit === undefined ? totalmem() / 2 : quantityNumber(sizeLimit);
}

function folderOwner(ids: PodIds, pod: Pod): FolderOwner | undefined {
  const owner = volumeOwner(ids, pod);
  return owner && { ...owner, isGroupShared: pod.spec.securityContext?.fsGroup !== undefined };
}
