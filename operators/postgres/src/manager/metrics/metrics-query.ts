/** What metrics ask of a server: rows of a name, labels as JSON and a value. */
import type { InstanceMetric } from "../../instance/instance-metrics.ts";

/** The source after `from`; rows without a value are left out. */
interface Question {
  readonly metric: InstanceMetric;
  readonly value: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly from?: string;
}

const position = "case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end";
const clients = "from pg_stat_activity where backend_type = 'client backend'";
const databases = "from pg_database where datallowconn";
const statistics = "from pg_stat_database where datname is not null";
const ofDatabase = { database: "datname" };
/** A copy of the data is no replica. */
const replicas = "from pg_stat_replication where application_name <> 'pg_basebackup'";
const ofReplica = { replica: "application_name" };
const ofSlot = { slot: "slot_name" };

const questions: readonly Question[] = [
  { metric: "postgres_connections_max", value: "current_setting('max_connections')::int" },
  {
    metric: "postgres_backends",
    value: "count(*)",
    labels: { database: "coalesce(datname, '')", state: "coalesce(state, 'other')" },
    from: `${clients} group by coalesce(datname, ''), coalesce(state, 'other')`,
  },
  { metric: "postgres_backends_waiting", value: "count(*)", from: `${clients} and wait_event_type = 'Lock'` },
  {
    metric: "postgres_longest_transaction_seconds",
    value: "coalesce(extract(epoch from max(clock_timestamp() - xact_start)), 0)",
    from: clients,
  },
  ...(["commit", "rollback"] as const).map((result) => ({
    metric: "postgres_transactions_total" as const,
    value: `xact_${result}`,
    labels: { ...ofDatabase, result: `'${result}'` },
    from: statistics,
  })),
  { metric: "postgres_deadlocks_total", value: "deadlocks", labels: ofDatabase, from: statistics },
  {
    metric: "postgres_database_size_bytes",
    value: "pg_database_size(oid)",
    labels: ofDatabase,
    from: databases,
  },
  { metric: "postgres_database_xid_age", value: "age(datfrozenxid)", labels: ofDatabase, from: databases },
  { metric: "postgres_database_mxid_age", value: "mxid_age(datminmxid)", labels: ofDatabase, from: databases },
  { metric: "postgres_wal_files", value: "count(*)", from: "from pg_ls_waldir()" },
  { metric: "postgres_wal_size_bytes", value: "coalesce(sum(size), 0)", from: "from pg_ls_waldir()" },
  { metric: "postgres_wal_position_bytes", value: `pg_wal_lsn_diff(${position}, '0/0')` },
  { metric: "postgres_streaming_replicas", value: "count(*)", from: `${replicas} and state = 'streaming'` },
  {
    metric: "postgres_replica_lag_bytes",
    value: `pg_wal_lsn_diff(${position}, replay_lsn)`,
    labels: ofReplica,
    from: replicas,
  },
  {
    metric: "postgres_replica_lag_seconds",
    value: "coalesce(extract(epoch from replay_lag), 0)",
    labels: ofReplica,
    from: replicas,
  },
  {
    metric: "postgres_replication_lag_bytes",
    value: "greatest(pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), 0)",
    from: "where pg_is_in_recovery()",
  },
  {
    metric: "postgres_replication_lag_seconds",
    value: `case when pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn() then 0
      else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) end`,
    from: "where pg_is_in_recovery()",
  },
  { metric: "postgres_slot_active", value: "active::int", labels: ofSlot, from: "from pg_replication_slots" },
  {
    metric: "postgres_slot_retained_bytes",
    value: `pg_wal_lsn_diff(${position}, restart_lsn)`,
    labels: ofSlot,
    from: "from pg_replication_slots",
  },
  { metric: "postgres_archived_total", value: "archived_count", from: "from pg_stat_archiver" },
  { metric: "postgres_archive_failed_total", value: "failed_count", from: "from pg_stat_archiver" },
  {
    metric: "postgres_archive_last_success_timestamp_seconds",
    value: "extract(epoch from last_archived_time)",
    from: "from pg_stat_archiver",
  },
];

/** PostgreSQL 17 moved its counts of checkpoints. */
function checkpointQuestions(major: number): readonly Question[] {
  const isMoved = major >= 17;
  const from = isMoved ? "from pg_stat_checkpointer" : "from pg_stat_bgwriter";
  const [timed, requested] = isMoved ? ["num_timed", "num_requested"] : ["checkpoints_timed", "checkpoints_req"];
  const metric = "postgres_checkpoints_total";
  return [
    { metric, value: timed, labels: { cause: "'timed'" }, from },
    { metric, value: requested, labels: { cause: "'requested'" }, from },
  ];
}

export function metricsQuery(major: number): string {
  const selects = [...questions, ...checkpointQuestions(major)].map(selectText);
  return `select name, labels, value from (\n${selects.join("\nunion all ")}\n) metrics where value is not null`;
}

function selectText({ metric, value, labels = {}, from = "" }: Question): string {
  const pairs = Object.entries(labels).map(([name, expression]) => `'${name}', ${expression}`);
  return `select '${metric}' as name, json_build_object(${pairs.join(", ")})::text as labels, (${value})::text as value ${from}`;
}
