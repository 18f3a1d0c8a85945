/** Ends processes of this host that nothing has a record of. */
import { readdirSync, readFileSync } from "node:fs";
import { type Clock, sleep } from "@setpoint/host";

const pollMs = 10;

/**
 * Ends all processes whose command line is meant, and those that these start meanwhile. The words of a
 * command line end with NUL, as in /proc.
 */
export async function endProcesses(
  isMeant: (commandLine: string) => boolean,
  clock: Clock,
  msMax: number,
): Promise<void> {
  const deadlineMs = clock.monotonic() + msMax;
  for (;;) {
    const pids = processes(isMeant);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
    if (clock.monotonic() > deadlineMs) return;
    await sleep(clock, pollMs);
  }
}

/** Sends SIGKILL to a process that may have ended. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in between.
  }
}

function processes(isMeant: (commandLine: string) => boolean): readonly number[] {
  const names = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  return names.filter((name) => isMeant(commandLine(name))).map(Number);
}

/** Empty for a process that has ended, also while its parent has not noticed that. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
