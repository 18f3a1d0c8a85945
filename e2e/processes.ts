import { readdirSync, readFileSync } from "node:fs";

/** The processes of this machine whose command line holds `text`. */
export function processesWith(text: string): readonly number[] {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  return pids.filter((pid) => commandLine(pid).includes(text)).map(Number);
}

/** Its arguments with spaces between them; empty for one that has ended. */
export function commandLine(pid: number | string): string {
  return fileOf(pid, "cmdline").replaceAll("\0", " ");
}

/** Empty for a process that ended while we looked. */
function fileOf(pid: number | string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** Whether a process is of the pod of this UID: by its control group, volumes, or what started it. */
export function isOfPod(pid: number, uid: string): boolean {
  // A control group may be that of a namespace; the volumes of a pod have its UID in any case.
  const text = `${fileOf(pid, "cgroup")} ${fileOf(pid, "mountinfo")} ${commandLine(parentOf(pid) ?? "")}`;
  return text.includes(uid) || text.includes(uid.replaceAll("-", "_"));
}

/** Undefined for a process that has ended. */
export function parentOf(pid: number): number | undefined {
  const [, parent] = /^PPid:\s*(\d+)/m.exec(fileOf(pid, "status")) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

/** Mount points of this machine whose line holds `text`. */
export function mountsWith(text: string): readonly string[] {
  const lines = readFileSync("/proc/mounts", "utf8").split("\n");
  return lines.filter((line) => line.includes(text)).map((line) => line.split(" ")[1] ?? line);
}
