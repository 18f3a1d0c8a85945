/** What an agent counted at one moment, read from its Summary API, and the rates between two moments. */
import { isJsonObject, numberAt, objectAt, objectsAt, stringAt } from "../registry/json-fields.ts";

/** Counts of one control group. */
export interface UsageCount {
  readonly cpuNanos: number;
  readonly workingSetBytes: number;
  readonly atMs: number;
  /** Absent for the node. */
  readonly startedAtMs?: number;
}

export interface UsageSample {
  readonly node: UsageCount | undefined;
  /** By the pod's UID, then by the container's name. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, UsageCount>>;
}

/** Used per second on average over `windowMs`. */
export interface Usage {
  readonly cpuNanosPerSecond: number;
  readonly memoryBytes: number;
  readonly atMs: number;
  readonly windowMs: number;
}

/** Leaves out what is not in the form of the Summary API. */
export function parseUsageSample(summary: unknown): UsageSample {
  if (!isJsonObject(summary)) return { node: undefined, pods: new Map() };
  const pods = objectsAt(summary, "pods").map((pod) => {
    const containers = objectsAt(pod, "containers").flatMap((each) => {
      const count = countOf(each);
      return count === undefined ? [] : [[stringAt(each, "name"), count] as const];
    });
    return [stringAt(pod, "podRef", "uid"), new Map(containers)] as const;
  });
  return { node: countOf(objectAt(summary, "node")), pods: new Map(pods) };
}

function countOf(stats: Readonly<Record<string, unknown>>): UsageCount | undefined {
  const cpuNanos = numberAt(stats, "cpu", "usageCoreNanoSeconds");
  const workingSetBytes = numberAt(stats, "memory", "workingSetBytes");
  const atMs = Date.parse(stringAt(stats, "cpu", "time"));
  if (cpuNanos === undefined || workingSetBytes === undefined || Number.isNaN(atMs)) return undefined;
  const startedAtMs = Date.parse(stringAt(stats, "startTime"));
  return { cpuNanos, workingSetBytes, atMs, ...(Number.isNaN(startedAtMs) ? {} : { startedAtMs }) };
}

/** Since `before`, or since the container's start when it started after that. */
export function usageBetween(before: UsageCount | undefined, now: UsageCount): Usage | undefined {
  const isSameRun = before !== undefined && before.startedAtMs === now.startedAtMs && before.cpuNanos <= now.cpuNanos;
  const fromMs = isSameRun ? before.atMs : now.startedAtMs;
  if (fromMs === undefined || fromMs >= now.atMs) return undefined;
  const windowMs = now.atMs - fromMs;
  const cpuNanos = now.cpuNanos - (isSameRun ? before.cpuNanos : 0);
  return {
    cpuNanosPerSecond: Math.round((cpuNanos * 1_000) / windowMs),
    memoryBytes: now.workingSetBytes,
    atMs: now.atMs,
    windowMs,
  };
}
