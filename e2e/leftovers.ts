/** What a cluster may have left on this machine after its end: processes, mounts, memory, control groups. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { mountsWith, processesWith } from "./processes.ts";

const cgroups = "/sys/fs/cgroup";
const sharedMemory = "/dev/shm";

/** The data folder of a cluster and the names of its nodes. */
export interface ClusterPlace {
  readonly directory: string;
  readonly nodes: readonly string[];
}

/** A line for each thing that is left of a cluster, also of one whose data folder is gone. */
export function leftoversOf({ directory, nodes }: ClusterPlace): readonly string[] {
  const folders = [directory, ...nodes.map((node) => memoryFolder(join(directory, "nodes", node)))];
  return [
    ...folders.slice(1).filter((folder) => existsSync(folder)),
    ...folders.flatMap((folder) => mountsWith(folder).map((mount) => `mount ${mount}`)),
    ...folders.flatMap((folder) => processesWith(folder).map((pid) => `process ${pid}: ${commandOf("/proc", pid)}`)),
    ...nodes.flatMap((node) => cgroupsOf(join(directory, "nodes", node))),
  ];
}

/** Where the agent of a node keeps what must not reach a disk. */
function memoryFolder(nodeFolder: string): string {
  const real = existsSync(nodeFolder) ? realpathSync(nodeFolder) : nodeFolder;
  const name = createHash("sha256").update(real).digest("hex").slice(0, 24);
  return join(sharedMemory, `setpoint-${process.getuid?.() ?? 0}-${name}`);
}

/** The groups of a node, in each hierarchy. */
function cgroupsOf(nodeFolder: string): readonly string[] {
  const sandboxes = resolve(memoryFolder(nodeFolder), "sandboxes");
  const name = createHash("sha256").update(sandboxes).digest("hex").slice(0, 12);
  const roots = [cgroups, ...readdirSync(cgroups).map((each) => join(cgroups, each))];
  return roots.map((root) => join(root, "setpoint", name)).filter((folder) => existsSync(folder));
}

/** Process ids of a name space of their own: what was started in it and lives is all that there is in it. */
export class ProcessSpace implements AsyncDisposable {
  readonly #first: ChildProcess;

  private constructor(first: ChildProcess) {
    this.#first = first;
  }

  static async open(): Promise<ProcessSpace> {
    // Its first process gets all orphans, and a shell that waits takes note of their end.
    const wait = "echo open; while :; do sleep 3600 & wait $!; done";
    const command = ["--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "sh", "-c", wait];
    const first = spawn("unshare", command, { stdio: ["ignore", "pipe", "inherit"] });
    await once(first.stdout, "data");
    return new ProcessSpace(first);
  }

  /** The words before a command that make it run inside. It is a child of the first one's process. */
  get enter(): readonly string[] {
    return ["nsenter", "--pid", "--mount", "--target", String(childOf(this.#first.pid ?? 0))];
  }

  /** Command lines of what lives in it, without its first process. */
  processes(): readonly string[] {
    const proc = `/proc/${childOf(this.#first.pid ?? 0)}/root/proc`;
    const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name) && name !== "1");
    return pids.map((pid) => commandOf(proc, Number(pid))).filter((each) => each !== "" && each !== "sleep 3600");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#first, "exit");
    this.#first.kill("SIGKILL");
    await ended;
  }
}

/** The only child of a process. */
export function childOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return Number(child);
}

/** Empty for a zombie, and for a process that has ended. */
function commandOf(proc: string, pid: number): string {
  try {
    return readFileSync(`${proc}/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}
