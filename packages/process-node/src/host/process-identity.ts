/** Identifies processes that outlive the agent, although the kernel reuses process ids. */
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process; unique together with the id. */
  readonly startTicks: string;
}

/** Undefined when the process has ended, or is a zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold blanks; the state is the first field after it, the start time the
    // 20th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const startTicks = fields[19];
    return fields[0] === "Z" || startTicks === undefined ? undefined : { pid, startTicks };
  } catch {
    return undefined;
  }
}

export function isAlive({ pid, startTicks }: ProcessIdentity): boolean {
  return identify(pid)?.startTicks === startTicks;
}

/** Sends a signal to this process, but not to another one that has got its id. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals | number): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // It ended in between.
  }
}
