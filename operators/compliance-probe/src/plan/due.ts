/** Whether a run is due, and why; pure. */
import { nextCronRun } from "setpoint/sources";
import { runAnnotation } from "../kind/compliance-probe.ts";
import type { Seen } from "../seen/seen.ts";

/** A run that brought nothing is repeated after this time. */
export const retryMs = 300_000;

/** Why a run is due; undefined while none is. */
export function dueReason({ probe, nowMs }: Seen): string | undefined {
  const { metadata, spec, status } = probe;
  const last = status?.lastRun;
  const requested = requestOf(probe);
  if (requested !== undefined && requested !== last?.requested) return `annotation ${runAnnotation} asks for it`;
  if (spec.suspend) return undefined;
  if (last === undefined) return "it has never run";
  if (last.generation !== metadata.generation) return "the spec has changed";
  if (retryAtMs(probe) <= nowMs) return "the last run failed";
  const dueMs = scheduledMs(probe, Date.parse(last.startedAt));
  return dueMs !== undefined && dueMs <= nowMs ? "the schedule says so" : undefined;
}

/** The value of the annotation that asks for a run. */
export function requestOf({ metadata }: Pick<Seen["probe"], "metadata">): string | undefined {
  return metadata.annotations?.[runAnnotation];
}

/** When the next run begins; undefined when nothing is scheduled. Throws for a schedule that never fires. */
export function nextRunMs({ probe, nowMs }: Seen): number | undefined {
  if (probe.spec.suspend) return undefined;
  const scheduled = scheduledMs(probe, nowMs);
  const next = Math.min(scheduled ?? Infinity, retryAtMs(probe));
  return next === Infinity ? undefined : next;
}

function scheduledMs({ spec: { schedule, timeZone } }: Seen["probe"], afterMs: number): number | undefined {
  return schedule === undefined ? undefined : nextCronRun(schedule, afterMs, { timeZone });
}

function retryAtMs({ status }: Seen["probe"]): number {
  const last = status?.lastRun;
  return last?.failure === undefined ? Infinity : Date.parse(last.finishedAt) + retryMs;
}
