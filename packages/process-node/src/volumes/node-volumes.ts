import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "@setpoint/host";
import type { ClusterApi } from "../cluster/cluster-api.ts";
import { claimKind, volumeKind } from "../cluster/kinds.ts";
import { nodeError } from "../errors.ts";
import type { PodVolumes, PreparedVolume } from "../pod-parts.ts";
import { type Pod, podIdentity, type Volume } from "../pod/pod.ts";
import { type FolderContent, writeAtomicFolder } from "./atomic-folder.ts";
import { refuseLeaving } from "./refuse-leaving.ts";
import { type ContentSources, volumeContent } from "./volume-content.ts";

export interface NodeVolumesOptions {
  readonly clock: Clock;
  readonly api: ClusterApi;
  podDirectory(podUid: string): string;
  sources(pod: Pod): ContentSources;
  forget(podUid: string): void;
}

/** Volumes as folders of the host, one folder a pod; persistent ones lie elsewhere and stay. */
export class NodeVolumes implements PodVolumes {
  readonly #options: NodeVolumesOptions;
  /** Hash of what was written last, by folder. */
  readonly #written = new Map<string, string>();

  constructor(options: NodeVolumesOptions) {
    this.#options = options;
  }

  async prepare(pod: Pod): Promise<ReadonlyMap<string, PreparedVolume>> {
    const prepared = new Map<string, PreparedVolume>();
    for (const volume of pod.spec.volumes ?? []) prepared.set(volume.name, await this.#prepareOne(pod, volume));
    return prepared;
  }

  async refresh(pod: Pod): Promise<void> {
    for (const volume of pod.spec.volumes ?? []) {
      const content = await volumeContent(volume, this.#options.sources(pod));
      if (content !== undefined) this.#write(this.#folder(pod, volume), content);
    }
  }

  async remove(podUid: string): Promise<void> {
    const directory = this.#options.podDirectory(podUid);
    for (const folder of this.#written.keys()) if (folder.startsWith(directory)) this.#written.delete(folder);
    this.#options.forget(podUid);
    rmSync(directory, { recursive: true, force: true });
  }

  async #prepareOne(pod: Pod, volume: Volume): Promise<PreparedVolume> {
    const folder = this.#folder(pod, volume);
    if (volume.emptyDir !== undefined) {
      mkdirSync(folder, { recursive: true });
      // Whoever the container runs as may write, as in any emptyDir.
      chmodSync(folder, 0o777);
      return { source: folder, readOnly: false };
    }
    if (volume.hostPath !== undefined) return { source: hostPath(volume.hostPath), readOnly: false };
    if (volume.persistentVolumeClaim !== undefined) {
      const { claimName, readOnly } = volume.persistentVolumeClaim;
      return { source: await this.#claimPath(pod, claimName), readOnly: readOnly ?? false };
    }
    const content = await volumeContent(volume, this.#options.sources(pod));
    if (content === undefined)
      throw nodeError("ERR_CONTAINER_CONFIG", `Cannot mount volume "${volume.name}": this node does not know its type`);
    this.#write(folder, content);
    return { source: folder, readOnly: true };
  }

  async #claimPath(pod: Pod, claimName: string): Promise<string> {
    const { namespace } = podIdentity(pod);
    const claim = await this.#options.api.find(claimKind, { namespace, name: claimName });
    if (claim === undefined) throw nodeError("ERR_CONTAINER_CONFIG", `persistentvolumeclaim "${claimName}" not found`);
    refuseLeaving(claim, pod);
    const volumeName = claim.spec.volumeName ?? "";
    if (volumeName === "" || claim.status?.phase !== "Bound") {
      throw nodeError("ERR_CONTAINER_CONFIG", `persistentvolumeclaim "${claimName}" is not bound yet`);
    }
    const volume = await this.#options.api.get(volumeKind, { name: volumeName });
    const path = volume.spec.hostPath?.path ?? volume.spec.local?.path;
    if (path === undefined)
      throw nodeError(
        "ERR_CONTAINER_CONFIG",
        `Cannot mount persistent volume "${volumeName}": it is no folder of this host`,
      );
    mkdirSync(path, { recursive: true });
    return path;
  }

  #folder(pod: Pod, volume: Volume): string {
    return join(this.#options.podDirectory(podIdentity(pod).uid), "volumes", volume.name);
  }

  #write(folder: string, content: FolderContent): void {
    const hash = createHash("sha256");
    for (const [path, { data, mode }] of content)
      hash
        .update(`${path}\0${mode ?? ""}\0`)
        .update(data)
        .update("\0");
    const digest = hash.digest("hex");
    if (this.#written.get(folder) === digest) return;
    writeAtomicFolder(this.#options.clock, folder, content);
    this.#written.set(folder, digest);
  }
}

function hostPath({ path, type = "" }: { readonly path: string; readonly type?: string }): string {
  if (type === "DirectoryOrCreate") mkdirSync(path, { recursive: true });
  if (type === "FileOrCreate" && !existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
  }
  if (!existsSync(path)) throw nodeError("ERR_CONTAINER_CONFIG", `hostPath "${path}" does not exist`);
  return path;
}
