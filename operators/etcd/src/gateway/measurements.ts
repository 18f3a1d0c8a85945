/** Parses what a member's metrics say of its disk; the names are the same from 3.4 to 3.6. */
import type { HistogramBucket, MemberMeasurements } from "./etcd-gateway.ts";

const logWrites = /^etcd_disk_wal_fsync_duration_seconds_bucket\{le="([^"]+)"\} (\S+)$/gm;

export function parseMeasurements(metrics: string): MemberMeasurements {
  const buckets = [...metrics.matchAll(logWrites)].map(([, bound = "", count = ""]): HistogramBucket => {
    return { withinSeconds: bound === "+Inf" ? Infinity : Number(bound), count: Number(count) };
  });
  return { logWrites: buckets.toSorted((a, b) => a.withinSeconds - b.withinSeconds) };
}
