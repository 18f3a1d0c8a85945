/** The processes that a process of this pod has started, by /proc. */
import { readdirSync, readFileSync } from "node:fs";

/** In the line of /proc/PID/stat, behind the name in parentheses: the state, then the parent. */
const parentInStat = /^.*\) \S (\d+) /s;

export function childrenOf(parent: number): readonly number[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.map(Number).filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    const [, parent] = parentInStat.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return parent === undefined ? undefined : Number(parent);
  } catch {
    // It ended while we looked.
    return undefined;
  }
}

/** Nothing happens to a process that has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended while we looked.
  }
}
