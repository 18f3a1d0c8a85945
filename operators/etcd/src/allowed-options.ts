/**
 * Options of etcd that an EtcdCluster may set: those that tune a member. The operator keeps all others,
 * because they name files, addresses or other clusters, or decide about identity and repair. An allow list
 * also covers the options of later versions.
 */
export const allowedOptions: readonly string[] = [
  "auto-compaction-mode",
  "auto-compaction-retention",
  "backend-batch-interval",
  "backend-batch-limit",
  "backend-bbolt-freelist-type",
  // Without `experimental`, options of 3.6 and later. 3.6 takes them with it too, so an upgrade keeps them.
  "bootstrap-defrag-threshold-megabytes",
  "compact-hash-check-time",
  "compaction-batch-limit",
  "compaction-sleep-interval",
  "corrupt-check-time",
  "election-timeout",
  "experimental-bootstrap-defrag-threshold-megabytes",
  "experimental-compact-hash-check-enabled",
  "experimental-compact-hash-check-time",
  "experimental-compaction-batch-limit",
  "experimental-compaction-sleep-interval",
  "experimental-corrupt-check-time",
  "experimental-enable-lease-checkpoint",
  "experimental-enable-lease-checkpoint-persist",
  "experimental-initial-corrupt-check",
  "experimental-txn-mode-write-with-shared-buffer",
  "experimental-warning-apply-duration",
  "experimental-warning-unary-request-duration",
  "experimental-watch-progress-notify-interval",
  "grpc-keepalive-interval",
  "grpc-keepalive-min-time",
  "grpc-keepalive-timeout",
  "heartbeat-interval",
  "initial-election-tick-advance",
  "log-level",
  "max-concurrent-streams",
  "max-request-bytes",
  "max-snapshots",
  "max-txn-ops",
  "max-wals",
  "metrics",
  "pre-vote",
  "quota-backend-bytes",
  "snapshot-count",
  "warning-apply-duration",
  "warning-unary-request-duration",
  "watch-progress-notify-interval",
];

/**
 * Variables that an EtcdCluster may set: those of Go's runtime. `ETCD_…` would set options, `LD_…` would load
 * other code.
 */
export const allowedVariables = ["GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "TZ"] as const;
