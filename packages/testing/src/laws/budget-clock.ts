/** What the time of an exploration is counted by when it shares its machine. */
import type { Clock } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";

/** On a machine this busy an exploration gets less CPU time than it may use, so that it ends. */
export const busyFactorMax = 6;

/**
 * Counts the CPU time of this thread, so a busy machine takes longer and visits as much; and real time at a
 * sixth, so the exploration ends.
 */
export function budgetClock(real: Clock = systemClock, cpuMs: () => number = threadCpuMs): Clock {
  const startedMs = real.monotonic();
  const cpuStartedMs = cpuMs();
  const elapsedMs = (): number => Math.max(cpuMs() - cpuStartedMs, (real.monotonic() - startedMs) / busyFactorMax);
  return { ...real, monotonic: elapsedMs };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
