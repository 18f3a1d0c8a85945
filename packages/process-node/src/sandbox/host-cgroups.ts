/**
 * The control groups of this host and where pods lie in them: `/setpoint/NODE/POD/CONTAINER`. A pod's group
 * holds limits of the pod as a whole, a container's group its own. crun knows version 2 and version 1, but
 * not both mounted together ("hybrid"), so it runs in a mount namespace in which only one of them is seen.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kill } from "../host/end-processes.ts";
import { type GroupUsage, readGroupUsage } from "./cgroup-usage.ts";
import type { ContainerLimits, PodLimits } from "./container-runtime.ts";
import { ociResources } from "./oci-resources.ts";

const root = "/sys/fs/cgroup";
const cgroup2Magic = 0x6367_7270;
const controllers = ["cpu", "memory", "pids"] as const;

export interface HostCgroups {
  /** `none`: this host or this user may not make groups, so limits are not enforced by them. */
  readonly version: 1 | 2 | "none";
  /** Why there are none, a sentence without its end. */
  readonly problem?: string;
  /** Shell lines that a mount namespace needs before crun runs in it; empty when it needs none. */
  readonly prepare: string;
  readonly managerArgument: string;
  /** `cgroupsPath` of a container's configuration; undefined without groups. */
  pathOf(podUid: string, container: string): string | undefined;
  /** Of a container's group, or of all pods of the node; undefined without such a group. */
  usageOf(run?: { readonly podUid: string; readonly container: string }): Promise<GroupUsage | undefined>;
  /** Makes the pod's group or changes its limits. */
  limitPod(podUid: string, limits: PodLimits): void;
  /** Of a container that runs. Throws what the kernel refuses, as less memory than is in use. */
  limitContainer(podUid: string, container: string, limits: ContainerLimits): void;
  /** Ends what runs in the pod's group, and removes it; whether it is gone: the kernel may take its time. */
  removePod(podUid: string): boolean;
  /** The pods that have a group. */
  podUids(): readonly string[];
  /** Removes the node's group when no pod is left in it. */
  close(): void;
}

/** `node` names the node's group; two nodes of one machine have different ones. */
export function detectCgroups(node: string): HostCgroups {
  const version = mountedVersion();
  const problem = version === "none" ? "no control groups are mounted at /sys/fs/cgroup" : probe(version, node);
  if (version === "none" || problem !== undefined) return withoutCgroups(problem ?? "");
  const hybrid = version === 1 && existsSync(join(root, "unified"));
  const folders = (podUid: string): readonly string[] => podFolders(version, node, podUid);
  return {
    version,
    prepare: hybrid ? `umount ${root}/unified` : "",
    managerArgument: "--cgroup-manager=cgroupfs",
    pathOf: (podUid, container) => `/setpoint/${node}/${podUid}/${container}`,
    usageOf: (run) =>
      readGroupUsage(root, version, join("setpoint", node, ...(run ? [run.podUid, run.container] : []))),
    limitPod(podUid, limits) {
      for (const folder of folders(podUid)) mkdirSync(folder, { recursive: true });
      if (version === 2) delegate(join(root, "setpoint", node, podUid));
      writeLimits(version, folders(podUid), limits);
    },
    limitContainer(podUid, container, limits) {
      const own = folders(podUid).map((folder) => join(folder, container));
      if (version === 2) refuseBelowUsage(own, limits);
      for (const [file, text] of containerFiles(version, limits)) writeWhereFound(own, file, text);
    },
    removePod(podUid) {
      for (const folder of folders(podUid)) removeTree(folder);
      return !folders(podUid).some((folder) => existsSync(folder));
    },
    podUids: () => [...new Set(folders("").flatMap((folder) => namesOfGroups(folder)))],
    close() {
      for (const folder of folders("")) removeEmpty(folder);
    },
  };
}

function withoutCgroups(problem: string): HostCgroups {
  return {
    version: "none",
    problem,
    // crun wants to see some version, even when it uses none.
    prepare: `mount -t cgroup2 none ${root} 2>/dev/null || true`,
    managerArgument: "--cgroup-manager=disabled",
    pathOf: () => undefined,
    usageOf: async () => undefined,
    limitPod() {},
    limitContainer() {},
    removePod: () => true,
    podUids: () => [],
    close() {},
  };
}

function mountedVersion(): 1 | 2 | "none" {
  try {
    if (statfsSync(root).type === cgroup2Magic) return 2;
    return controllers.every((name) => existsSync(join(root, name, "cgroup.procs"))) ? 1 : "none";
  } catch {
    return "none";
  }
}

/** Whether limits can be set, tried out on the node's own group; the reason when not. */
function probe(version: 1 | 2, node: string): string | undefined {
  try {
    for (const folder of nodeFolders(version, node)) mkdirSync(folder, { recursive: true });
    if (version === 1) return undefined;
    for (const folder of [root, join(root, "setpoint"), join(root, "setpoint", node)]) delegate(folder);
    return undefined;
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    return `this user may not make control groups in /sys/fs/cgroup (${String(code)})`;
  }
}

/** Version 2: children may use the controllers. */
function delegate(folder: string): void {
  const wanted = controllers.map((name) => `+${name}`).join(" ");
  const enabled = new Set(readFileSync(join(folder, "cgroup.subtree_control"), "utf8").trim().split(/\s+/));
  if (!controllers.every((name) => enabled.has(name))) writeFileSync(join(folder, "cgroup.subtree_control"), wanted);
}

function nodeFolders(version: 1 | 2, node: string): readonly string[] {
  if (version === 2) return [join(root, "setpoint", node)];
  return controllers.map((name) => join(root, name, "setpoint", node));
}

function podFolders(version: 1 | 2, node: string, podUid: string): readonly string[] {
  if (version === 2) return [join(root, "setpoint", node, podUid)];
  // crun makes the group in every hierarchy that is mounted.
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "unified")
    .map(({ name }) => join(root, name, "setpoint", node, podUid));
}

const cpuPeriodUs = 100_000;

function writeLimits(version: 1 | 2, folders: readonly string[], limits: PodLimits): void {
  const { memoryBytes, cpuMillis, processes } = limits;
  const quota = cpuMillis === undefined ? undefined : Math.max(1_000, (cpuMillis * cpuPeriodUs) / 1_000);
  const files: Readonly<Record<string, string | undefined>> =
    version === 2
      ? {
          "memory.max": memoryBytes === undefined ? "max" : String(memoryBytes),
          "memory.swap.max": memoryBytes === undefined ? undefined : "0",
          "cpu.max": quota === undefined ? `max ${cpuPeriodUs}` : `${quota} ${cpuPeriodUs}`,
          "pids.max": processes === undefined ? "max" : String(processes),
        }
      : {
          "memory.limit_in_bytes": memoryBytes === undefined ? "-1" : String(memoryBytes),
          "cpu.cfs_quota_us": quota === undefined ? "-1" : String(quota),
          "pids.max": processes === undefined ? "max" : String(processes),
        };
  for (const [file, text] of Object.entries(files)) if (text !== undefined) writeWhereFound(folders, file, text);
}

function writeWhereFound(folders: readonly string[], file: string, text: string): void {
  for (const folder of folders) if (existsSync(join(folder, file))) writeFileSync(join(folder, file), text);
}

/** Version 1 refuses it by itself; version 2 would end programs until the rest has room. */
function refuseBelowUsage([folder = ""]: readonly string[], { memoryBytes }: ContainerLimits): void {
  if (memoryBytes === undefined || !existsSync(join(folder, "memory.current"))) return;
  const [, reclaimable = "0"] = /^inactive_file (\d+)$/m.exec(readFileSync(join(folder, "memory.stat"), "utf8")) ?? [];
  const used = Number(readFileSync(join(folder, "memory.current"), "utf8")) - Number(reclaimable);
  if (used > memoryBytes) throw new Error(`memory limit (${memoryBytes}) below current usage (${used})`);
}

/** As crun writes the same resources when it makes the group. */
function containerFiles(version: 1 | 2, limits: ContainerLimits): readonly (readonly [string, string])[] {
  const { memory, cpu = {} } = ociResources(limits);
  const { quota, period = cpuPeriodUs, shares } = cpu;
  const bytes = memory === undefined ? undefined : String(memory.limit);
  if (version === 2) {
    return [
      ["memory.max", bytes ?? "max"],
      ...(bytes === undefined ? [] : [["memory.swap.max", "0"] as const]),
      ["cpu.max", `${quota ?? "max"} ${period}`],
      ...(shares === undefined ? [] : [["cpu.weight", String(weightOf(shares))] as const]),
    ];
  }
  return [
    // A limit with swap is never below the one without: it is written before and after, for both directions.
    ["memory.memsw.limit_in_bytes", "-1"],
    ["memory.limit_in_bytes", bytes ?? "-1"],
    ["memory.memsw.limit_in_bytes", bytes ?? "-1"],
    ["cpu.cfs_quota_us", String(quota ?? -1)],
    ...(shares === undefined ? [] : [["cpu.shares", String(shares)] as const]),
  ];
}

/** Shares of version 1 as the weight of version 2. */
function weightOf(shares: number): number {
  return 1 + Math.floor(((shares - 2) * 9_999) / 262_142);
}

/** Groups are removed from the leaves up; one that still has processes stays until the next attempt. */
function removeTree(folder: string): void {
  for (const name of namesOfGroups(folder)) removeTree(join(folder, name));
  for (const pid of processesIn(folder)) kill(pid);
  removeEmpty(folder);
}

function namesOfGroups(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function processesIn(folder: string): readonly number[] {
  try {
    const text = readFileSync(join(folder, "cgroup.procs"), "utf8").trim();
    return text === "" ? [] : text.split("\n").map(Number);
  } catch {
    // There is no such group any more.
    return [];
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // There is none, or the kernel is still ending its last processes.
  }
}
