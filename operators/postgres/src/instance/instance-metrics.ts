/** The metrics of one instance, as its manager serves them to Prometheus without a login. */

export interface MetricText {
  readonly type: "gauge" | "counter";
  readonly help: string;
}

const gauge = (help: string): MetricText => ({ type: "gauge", help });
const counter = (help: string): MetricText => ({ type: "counter", help });

/** In their order in an answer. None has a value of a row, a text of a statement, or the name of a user. */
export const instanceMetrics = {
  postgres_up: gauge("Whether the server answers."),
  postgres_fenced: gauge("Whether a user keeps the server stopped."),
  postgres_term: gauge("The term of the primary that the instance follows."),
  postgres_volume_size_bytes: gauge("The size of the volume."),
  postgres_volume_available_bytes: gauge("What is free on the volume."),
  postgres_in_recovery: gauge("Whether the server is a replica."),
  postgres_timeline: gauge("The newest timeline in the log."),
  postgres_start_time_seconds: gauge("When the server started, since the epoch."),
  postgres_pending_restart_settings: gauge("Settings that wait for a restart."),
  postgres_connections_max: gauge("The setting max_connections."),
  postgres_backends: gauge("Connections of clients, by database and state."),
  postgres_backends_waiting: gauge("Connections of clients that wait for a lock."),
  postgres_longest_transaction_seconds: gauge("The age of the oldest open transaction of a client."),
  postgres_transactions_total: counter("Transactions, by database and result."),
  postgres_deadlocks_total: counter("Deadlocks, by database."),
  postgres_database_size_bytes: gauge("The size of a database."),
  postgres_database_xid_age: gauge("Transactions since the oldest that is not frozen; at 2 billion the server stops."),
  postgres_database_mxid_age: gauge("The same for multixacts."),
  postgres_wal_files: gauge("Segments of the log on the volume."),
  postgres_wal_size_bytes: gauge("The size of the log on the volume."),
  postgres_wal_position_bytes: counter("The position of the log: written by a primary, received by a replica."),
  postgres_streaming_replicas: gauge("Replicas that follow this instance now."),
  postgres_replica_lag_bytes: gauge("What a replica has not replayed of the log, as the primary sees it."),
  postgres_replica_lag_seconds: gauge("How long a replica takes to replay, as the primary sees it."),
  postgres_replication_lag_bytes: gauge("What this replica has received and not replayed."),
  postgres_replication_lag_seconds: gauge("The age of the last transaction replayed, while more has been received."),
  postgres_slot_active: gauge("Whether a replication slot is in use."),
  postgres_slot_retained_bytes: gauge("What a replication slot keeps of the log."),
  postgres_archived_total: counter("Segments that were archived."),
  postgres_archive_failed_total: counter("Tries to archive a segment that failed."),
  postgres_archive_last_success_timestamp_seconds: gauge("When a segment was archived last, since the epoch."),
  postgres_checkpoints_total: counter("Checkpoints, by cause: timed or requested."),
} as const satisfies Readonly<Record<string, MetricText>>;

export type InstanceMetric = keyof typeof instanceMetrics;
