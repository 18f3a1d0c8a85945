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

test("parseMeasurements() of other metrics is empty", () => {
  expect(parseMeasurements("process_open_fds 8\n").logWrites).toEqual([]);
});
