import { expect, test } from "vitest";
import { parseMeasurements } from "./measurements.ts";

/** As etcd 3.5.16 prints it, shortened. */
const metrics = `# HELP etcd_disk_wal_fsync_duration_seconds The latency distributions of fsync called by WAL.
# TYPE etcd_disk_wal_fsync_duration_seconds histogram
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 3
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.002"} 40
etcd_disk_wal_fsync_duration_seconds_bucket{le="+Inf"} 41
etcd_disk_wal_fsync_duration_seconds_sum 0.09
etcd_disk_wal_fsync_duration_seconds_count 41
`;

test("parseMeasurements() reads the buckets of the log's writes", () => {
  expect(parseMeasurements(metrics).logWrites).toEqual([
    { withinSeconds: 0.001, count: 3 },
    { withinSeconds: 0.002, count: 40 },
    { withinSeconds: Infinity, count: 41 },
  ]);
});

test("parseMeasurements() reads the probes of each peer, by its ID as etcd lists it", () => {
  const text = `etcd_network_peer_round_trip_time_seconds_bucket{To="08e9e05c52164694",le="0.0001"} 0
etcd_network_peer_round_trip_time_seconds_sum{To="08e9e05c52164694"} 0.5
etcd_network_peer_round_trip_time_seconds_count{To="08e9e05c52164694"} 12
`;
  expect(parseMeasurements(text).roundTrips).toEqual([{ peerId: "8e9e05c52164694", seconds: 0.5, count: 12 }]);
});

test("parseMeasurements() of other metrics is empty", () => {
  expect(parseMeasurements("process_open_fds 8\n")).toEqual({ logWrites: [], roundTrips: [] });
});
