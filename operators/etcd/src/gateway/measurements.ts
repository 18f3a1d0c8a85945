/** Parses what a member's metrics say of its disk and its peers; the names are the same from 3.4 to 3.6. */
import type { HistogramBucket, MemberMeasurements, RoundTrips } from "./etcd-gateway.ts";

const logWrites = /^etcd_disk_wal_fsync_duration_seconds_bucket\{le="([^"]+)"\} (\S+)$/gm;

export function parseMeasurements(metrics: string): MemberMeasurements {
  const buckets = [...metrics.matchAll(logWrites)].map(([, bound = "", count = ""]): HistogramBucket => {
    return { withinSeconds: bound === "+Inf" ? Infinity : Number(bound), count: Number(count) };
  });
  return {
    logWrites: buckets.toSorted((a, b) => a.withinSeconds - b.withinSeconds),
    roundTrips: parseRoundTrips(metrics),
  };
}

const roundTrips = /^etcd_network_peer_round_trip_time_seconds_(sum|count)\{To="([^"]+)"\} (\S+)$/gm;

function parseRoundTrips(metrics: string): readonly RoundTrips[] {
  const sums = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const [, kind, peer = "", value] of metrics.matchAll(roundTrips))
    (kind === "sum" ? sums : counts).set(peer.replace(/^0+/, ""), Number(value));
  return [...counts].map(([peerId, count]) => ({ peerId, count, seconds: sums.get(peerId) ?? 0 }));
}
