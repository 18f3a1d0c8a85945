/** Finds the real process of a member, to kill it as an out-of-memory killer would. */
import { readdirSync, readFileSync } from "node:fs";

/** As `findMemberProcess`; throws when there is none. */
export function memberProcess(member: string): number {
  const found = findMemberProcess(member);
  if (found === undefined) throw new Error(`No process of etcd member "${member}" on this machine`);
  return found;
}

/**
 * The process ID of the etcd that runs as `member`, on this machine: also inside containers and sandboxes,
 * whose processes the host sees.
 */
export function findMemberProcess(member: string): number | undefined {
  const found = readdirSync("/proc").find((entry) => /^\d+$/.test(entry) && isMember(entry, member));
  return found === undefined ? undefined : Number(found);
}

function isMember(pid: string, member: string): boolean {
  try {
    const [program = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return /(^|\/)etcd$/.test(program) && args.includes(`--name=${member}`);
  } catch {
    return false; // It ended while we looked.
  }
}
