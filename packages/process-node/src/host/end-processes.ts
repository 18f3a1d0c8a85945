/** Ends processes of this host that nothing has a record of. */
import { type Clock, sleep } from "@setpoint/host";
import type { ProcessList } from "./process-list.ts";

const pollMs = 10;

/**
 * Ends all processes whose command line is meant, and those that these start meanwhile. The words of a
 * command line end with NUL, as in /proc.
 */
export async function endProcesses(
  processes: ProcessList,
  isMeant: (commandLine: string) => boolean,
  clock: Clock,
  msMax: number,
): Promise<void> {
  const deadlineMs = clock.monotonic() + msMax;
  for (;;) {
    const meant = (await processes.read()).filter(({ commandLine }) => isMeant(commandLine));
    if (meant.length === 0) return;
    for (const { pid } of meant) kill(pid);
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
