/**
 * Keeps what a cluster does to a machine away from the machine: its processes, mounts and files end with one
 * process, whatever ends it. Kubelet, containerd and the network plugins write to fixed folders and change
 * settings of the kernel.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Folders below which a cluster's programs write, whatever their flags are. */
const writtenFolders = ["/run", "/var/lib", "/var/log", "/opt"];
/** What the kubelet sets for the whole machine. */
const kernelSettings = [
  "vm/overcommit_memory",
  "vm/panic_on_oom",
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxkeys",
  "kernel/keys/root_maxbytes",
];
const controlGroups = "/sys/fs/cgroup";

/**
 * Runs a command as the first process of its own PID and mount namespace; resolves to its exit code. Its
 * standard input ends when `signal` is aborted or this process dies: then it should stop.
 */
export function runIsolated(command: readonly string[], signal: AbortSignal): Promise<number> {
  const flags = ["--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
  return new Promise((resolve, reject) => {
    // Detached from the terminal, whose ^C would end the command before it has put things in order.
    const child = spawn("unshare", [...flags, ...command], { stdio: ["pipe", "inherit", "inherit"], detached: true });
    const stop = (): void => void child.stdin.end();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

/**
 * Within `runIsolated`: gives this process and its children copies of the written folders, which vanish with
 * them.
 */
export function makeFoldersPrivate(scratch: string): void {
  mkdirSync(scratch, { recursive: true });
  mount(["-t", "tmpfs", "tmpfs", scratch]);
  for (const [i, folder] of writtenFolders.entries()) {
    const [upper, work] = [join(scratch, `${i}`), join(scratch, `${i}.work`)];
    for (const path of [upper, work]) mkdirSync(path);
    mount(["-t", "overlay", "overlay", "-o", `lowerdir=${folder},upperdir=${upper},workdir=${work}`, folder]);
  }
}

function mount(args: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot mount ${args.at(-1)}: ${stderr.trim()}`);
}

/** Remembers what namespaces do not hold, settings of the kernel and control groups, and puts it back. */
export class MachineState implements Disposable {
  readonly #settings = new Map(kernelSettings.map((name) => [name, readFileSync(`/proc/sys/${name}`, "utf8")]));
  readonly #groups = new Set(groupsOfContainers());

  [Symbol.dispose](): void {
    for (const [name, value] of this.#settings) writeFileSync(`/proc/sys/${name}`, value);
    for (const group of this.newGroups()) removeEmpty(group);
  }

  /** Control groups that were not there before, the deepest first. */
  newGroups(): readonly string[] {
    return groupsOfContainers()
      .filter((group) => !this.#groups.has(group))
      .toReversed();
  }
}

/**
 * containerd keeps the control groups of the containers that Kubernetes starts below `k8s.io`, in each
 * hierarchy.
 */
function groupsOfContainers(): readonly string[] {
  const roots = [controlGroups, ...foldersIn(controlGroups)].flatMap((folder) => foldersIn(folder));
  return roots.filter((path) => path.endsWith("/k8s.io")).flatMap((path) => [path, ...foldersBelow(path)]);
}

function foldersBelow(folder: string): readonly string[] {
  return foldersIn(folder).flatMap((each) => [each, ...foldersBelow(each)]);
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
      each.isDirectory() ? [join(folder, each.name)] : [],
    );
  } catch {
    return []; // It was removed while we looked.
  }
}

function removeEmpty(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // The control group has running processes, so it is not ours.
  }
}
