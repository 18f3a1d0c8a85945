/** Evicts pods that use more disk than their limits or the node allow. Messages are those of a kubelet. */
import type { Pod } from "@setpoint/api";
import { existsSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@setpoint/apimachinery";
import type { Logger } from "@setpoint/host";
import { quantityNumber } from "../volumes/downward-api.ts";
import type { PodWorker } from "../workers/pod-worker.ts";
import { runTool } from "../host/run-tool.ts";

export interface PodEvictionsOptions {
  readonly log: Logger;
  /** On the disk whose space is watched. */
  readonly directory: string;
  podDirectory(podUid: string): string;
  memoryDirectory(podUid: string): string;
  setDiskPressure(hasPressure: boolean): void;
}

/** Disk pressure starts when less than both is free: 5 % of a large disk is still much. */
const freeShareMin = 0.05;
const freeBytesMin = 512 * 1024 * 1024;

interface Usage {
  /** By emptyDir. */
  readonly volumes: ReadonlyMap<string, number>;
  /** Without volumes in memory. */
  readonly total: number;
}

/** A disk is full when it has no room for bytes or none for files. */
interface Shortage {
  readonly message: string;
  readonly of: "bytes" | "files";
}

export class PodEvictions {
  readonly #options: PodEvictionsOptions;

  constructor(options: PodEvictionsOptions) {
    this.#options = options;
  }

  /** Measures the disk and every pod, and evicts what exceeds a limit. */
  async check(workers: readonly PodWorker[]): Promise<void> {
    const active = workers.filter(({ isEvictable }) => isEvictable);
    const shortage = diskShortage(this.#options.directory);
    this.#options.setDiskPressure(shortage !== undefined);
    const usages = new Map<PodWorker, number>();
    for (const worker of active) {
      if (shortage === undefined && !hasLimit(worker.pod)) continue;
      const usage = await this.#usage(worker);
      const why = usage === undefined ? undefined : exceeded(worker.pod, usage);
      if (why !== undefined) worker.evict(why);
      else if (usage !== undefined)
        usages.set(worker, shortage?.of === "files" ? await this.#files(worker) : usage.total);
    }
    if (shortage !== undefined) evictLargest(usages, shortage.message);
  }

  /** Of the pod's own folder: what lies in memory takes no file of the disk. */
  #files({ uid }: PodWorker): Promise<number> {
    return du("--inodes", this.#options.podDirectory(uid));
  }

  async #usage({ uid, pod }: PodWorker): Promise<Usage | undefined> {
    const { log } = this.#options;
    const [podDirectory, memoryDirectory] = [this.#options.podDirectory(uid), this.#options.memoryDirectory(uid)];
    const empty = (pod.spec.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined);
    const volumes = new Map<string, number>();
    let total = 0;
    try {
      for (const { name, emptyDir } of empty) {
        const isMemory = emptyDir?.medium === "Memory";
        const directory = isMemory ? memoryDirectory : podDirectory;
        const bytes = await diskUsage(join(directory, "volumes", name));
        volumes.set(name, bytes);
        if (!isMemory) total += bytes;
      }
      for (const folder of nodesOwn) total += await diskUsage(join(podDirectory, folder));
      return { volumes, total };
    } catch (error) {
      // A file was deleted while `du` counted it.
      log.debug("Could not measure disk usage of pod", { pod: uid, error: messageOf(error) });
      return undefined;
    }
  }
}

/** What the node writes for a pod: its logs, and the files in which containers say why they end. */
const nodesOwn = ["logs", "termination"];

async function diskUsage(folder: string): Promise<number> {
  return (await du("-k", folder)) * 1_024;
}

/** A file that goes while it is counted is an error of `du`, which counts the others all the same. */
async function du(unit: "-k" | "--inodes", folder: string): Promise<number> {
  const text = await runTool(["/bin/sh", "-c", 'du -sx "$1" -- "$2" 2>/dev/null || true', "sh", unit, folder]);
  const count = Number.parseInt(text, 10);
  if (Number.isNaN(count) && existsSync(folder)) throw new Error(`du says nothing of ${folder}`);
  return Number.isNaN(count) ? 0 : count;
}

function hasLimit({ spec }: Pod): boolean {
  return (
    (spec.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) || storageLimit(spec) !== undefined
  );
}

/** The reason to evict the pod; undefined when it is within its limits. */
function exceeded({ spec }: Pod, { volumes, total }: Usage): string | undefined {
  for (const { name, emptyDir } of spec.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    if (limit !== undefined && (volumes.get(name) ?? 0) > quantityNumber(limit))
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `;
  }
  const limit = storageLimit(spec);
  if (limit === undefined || total <= limit.bytes) return undefined;
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${limit.text}. `;
}

/** The sum, when each container has a limit. */
function storageLimit(spec: Pod["spec"]): { readonly bytes: number; readonly text: string } | undefined {
  const limits = spec.containers.map(({ resources }) => resources?.limits?.["ephemeral-storage"]);
  const known = limits.filter((text) => text !== undefined);
  if (known.length < limits.length) return undefined;
  const bytes = known.reduce((sum, text) => sum + quantityNumber(text), 0);
  return { bytes, text: known.length === 1 ? (known[0] ?? "") : String(bytes) };
}

/** The message of a kubelet on a node that is low on disk; undefined when enough is free. */
function diskShortage(directory: string): Shortage | undefined {
  const { blocks, bavail, bsize, files, ffree } = statfsSync(directory);
  // A file system that makes room for files as it needs it has none to count.
  const filesMin = Math.ceil(files * freeShareMin);
  if (ffree < filesMin) {
    const message = `The node was low on resource: inodes. Threshold quantity: ${filesMin}, available: ${ffree}. `;
    return { message, of: "files" };
  }
  const [free, enough] = [bavail * bsize, Math.min(blocks * bsize * freeShareMin, freeBytesMin)];
  if (free >= enough) return undefined;
  const quantities = `Threshold quantity: ${Math.ceil(enough)}, available: ${Math.floor(free / 1_024)}Ki. `;
  return { message: `The node was low on resource: ephemeral-storage. ${quantities}`, of: "bytes" };
}

function evictLargest(usages: ReadonlyMap<PodWorker, number>, why: string): void {
  const [largest] = [...usages].sort(([, a], [, b]) => b - a);
  largest?.[0].evict(why);
}
