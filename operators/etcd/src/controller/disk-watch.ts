/** How slow the disks of members are, from two samples of their metrics a while apart. */
import type { HistogramBucket, MemberMeasurements } from "../gateway/etcd-gateway.ts";

/** What is known of a member's disk. */
export interface DiskHealth {
  /** Undefined while there were too few writes to tell. */
  readonly p99Ms: number | undefined;
  /** For how long it has been above the bound without a break; 0 when it is not. */
  readonly slowForMs: number;
}

/** The pause between samples: a few writes take that long on a quiet cluster. */
export const sampleMs = 30_000;
/** Fewer writes say nothing of their slowest hundredth. */
const writesMin = 10;
const quantile = 0.99;

interface Watched {
  readonly pod: string;
  readonly logWrites: readonly HistogramBucket[];
  readonly sampledMs: number;
  readonly p99Ms: number | undefined;
  readonly slowSinceMs: number | undefined;
}

/**
 * By a clock that nobody sets. A new process counts from its own start: a disk is found slow later, never
 * sooner.
 */
export class DiskWatch {
  /** By the UID of the cluster, then by the member. */
  readonly #clusters = new Map<string, Map<string, Watched>>();

  /** Whether it is time for the next sample of a member, whose pod has this UID. */
  isDue(cluster: string, member: string, pod: string, nowMs: number): boolean {
    const watched = this.#clusters.get(cluster)?.get(member);
    return watched?.pod !== pod || nowMs - watched.sampledMs >= sampleMs;
  }

  note(
    cluster: string,
    { member, pod, boundMs }: { readonly member: string; readonly pod: string; readonly boundMs: number },
    { logWrites }: MemberMeasurements,
    nowMs: number,
  ): void {
    const members = this.#clusters.get(cluster) ?? new Map<string, Watched>();
    this.#clusters.set(cluster, members);
    const before = members.get(member);
    const last = before?.pod === pod ? before : undefined;
    const p99Ms = (last === undefined ? undefined : quantileMs(last.logWrites, logWrites)) ?? last?.p99Ms;
    const isSlow = p99Ms !== undefined && p99Ms > boundMs;
    const slowSinceMs = isSlow ? (last?.slowSinceMs ?? nowMs) : undefined;
    members.set(member, { pod, logWrites, sampledMs: nowMs, p99Ms, slowSinceMs });
  }

  /** What is known of these members; others of the cluster are forgotten. */
  health(cluster: string, names: readonly string[], nowMs: number): ReadonlyMap<string, DiskHealth> {
    const members = this.#clusters.get(cluster);
    for (const name of [...(members?.keys() ?? [])]) if (!names.includes(name)) members?.delete(name);
    const known = [...(members ?? [])].map(([name, { p99Ms, slowSinceMs }]) => {
      return [name, { p99Ms, slowForMs: slowSinceMs === undefined ? 0 : nowMs - slowSinceMs }] as const;
    });
    return new Map(known);
  }
}

/** Within how many milliseconds 99 of 100 writes between the samples ended: the bucket's bound below it. */
function quantileMs(before: readonly HistogramBucket[], after: readonly HistogramBucket[]): number | undefined {
  const counts = after.map(({ count }, at) => count - (before[at]?.count ?? 0));
  const total = counts.at(-1) ?? 0;
  if (total < writesMin) return undefined;
  const at = counts.findIndex((count) => count >= total * quantile);
  // The lower bound of the bucket: that much it is at least.
  return at <= 0 ? 0 : (after[at - 1]?.withinSeconds ?? 0) * 1_000;
}
