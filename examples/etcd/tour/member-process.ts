/** Finds the real process of a member, to kill it as an out-of-memory killer would. */
import { readdirSync, readFileSync } from "node:fs";

/**
 * The process ID of the etcd that runs as `member`, on this machine: also inside containers and sandboxes,
 * whose processes the host sees. Throws when there is none.
 */
export function memberProcess(member: string): number {
  for (const entry of readdirSync("/proc")) {
    if (/^\d+$/.test(entry) && isMember(entry, member)) return Number(entry);
  }
  throw new Error(`No process of etcd member "${member}" on this machine`);
}

function isMember(pid: string, member: string): boolean {
  try {
    const [program = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return /(^|\/)etcd$/.test(program) && args.includes(`--name=${member}`);
  } catch {
    return false; // It ended while we looked.
  }
}
