/** How slow the disks of members are, from two samples of their metrics a while apart; pure. */

/** Writes to a disk that ended within a time, as a Prometheus histogram counts them. */
export interface WriteBucket {
  readonly withinSeconds: number;
  readonly count: number;
}

/** What is known of a member's disk. */
export interface DiskHealth {
  /** Undefined while there were too few writes to tell. */
  readonly p99Ms: number | undefined;
  /** For how long it has been above the bound without a break; 0 when it is not. */
  readonly slowForMs: number;
}

interface DiskSample {
  readonly pod: string;
  readonly writes: readonly WriteBucket[];
  readonly sampledMs: number;
  readonly p99Ms: number | undefined;
  readonly slowSinceMs: number | undefined;
}

/**
 * The latest sample of each member, by a clock that nobody sets. A new process counts from its own start: a
 * disk is found slow later, never sooner.
 */
export type DiskSamples = ReadonlyMap<string, DiskSample>;

/** Before anything was measured. */
export const noDiskSamples: DiskSamples = new Map();

/** The pause between samples: a few writes take that long on a quiet instance. */
export const diskSampleMs = 30_000;
/** Fewer writes say nothing of their slowest hundredth. */
const writesMin = 10;
const quantile = 0.99;

/** Whether it is time for the next sample of a member, whose pod has this UID. */
export function isDiskSampleDue(samples: DiskSamples, member: string, pod: string, nowMs: number): boolean {
  const sample = samples.get(member);
  return sample?.pod !== pod || nowMs - sample.sampledMs >= diskSampleMs;
}

/** With what a member's metrics show now; `boundMs` is from where a disk is slow. */
export function noteDiskSample(
  samples: DiskSamples,
  { member, pod, boundMs }: { readonly member: string; readonly pod: string; readonly boundMs: number },
  writes: readonly WriteBucket[],
  nowMs: number,
): DiskSamples {
  const before = samples.get(member);
  const last = before?.pod === pod ? before : undefined;
  const p99Ms = (last === undefined ? undefined : quantileMs(last.writes, writes)) ?? last?.p99Ms;
  const isSlow = p99Ms !== undefined && p99Ms > boundMs;
  const slowSinceMs = isSlow ? (last?.slowSinceMs ?? nowMs) : undefined;
  return new Map([...samples, [member, { pod, writes, sampledMs: nowMs, p99Ms, slowSinceMs }]]);
}

/** What is known of the members. */
export function diskHealth(samples: DiskSamples, nowMs: number): ReadonlyMap<string, DiskHealth> {
  const known = [...samples].map(([name, { p99Ms, slowSinceMs }]) => {
    return [name, { p99Ms, slowForMs: slowSinceMs === undefined ? 0 : nowMs - slowSinceMs }] as const;
  });
  return new Map(known);
}

/** Within how many milliseconds 99 of 100 writes between the samples ended: the bucket's bound below it. */
function quantileMs(before: readonly WriteBucket[], after: readonly WriteBucket[]): number | undefined {
  const counts = after.map(({ count }, at) => count - (before[at]?.count ?? 0));
  const total = counts.at(-1) ?? 0;
  if (total < writesMin) return undefined;
  const at = counts.findIndex((count) => count >= total * quantile);
  // The lower bound of the bucket: that much it is at least.
  return at <= 0 ? 0 : (after[at - 1]?.withinSeconds ?? 0) * 1_000;
}
