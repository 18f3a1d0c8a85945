import type { Pod } from "@setpoint/api";

/** How much longer the pod may run; undefined without a limit, or before its start was reported. */
export function untilDeadlineMs({ spec, status }: Pod, nowMs: number): number | undefined {
  const { activeDeadlineSeconds } = spec;
  const { startTime } = status ?? {};
  if (activeDeadlineSeconds === undefined || startTime === undefined) return undefined;
  return Date.parse(startTime) + Number(activeDeadlineSeconds) * 1_000 - nowMs;
}
