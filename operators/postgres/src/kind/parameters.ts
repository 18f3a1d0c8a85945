/**
 * Which settings of PostgreSQL a user may choose. What the operator's promises stand on is fixed; it is
 * refused by name, because a setting that two parties write is a failover that does not work.
 */
export type ParameterRefusal = { readonly field: string; readonly why: string };

/** The operator sets these: replication, TLS, sockets and files stand on them. */
export const fixedParameters: readonly string[] = [
  "allow_alter_system",
  "archive_cleanup_command",
  "archive_command",
  "archive_library",
  "archive_mode",
  "bonjour",
  "cluster_name",
  "config_file",
  "data_directory",
  "data_sync_retry",
  "event_source",
  "external_pid_file",
  "fsync",
  "full_page_writes",
  "hba_file",
  "hot_standby",
  "ident_file",
  "include",
  "include_dir",
  "include_if_exists",
  "listen_addresses",
  "log_destination",
  "log_directory",
  "log_filename",
  "logging_collector",
  "port",
  "primary_conninfo",
  "primary_slot_name",
  "promote_trigger_file",
  "recovery_end_command",
  "recovery_min_apply_delay",
  "recovery_target",
  "recovery_target_action",
  "recovery_target_inclusive",
  "recovery_target_lsn",
  "recovery_target_name",
  "recovery_target_time",
  "recovery_target_timeline",
  "recovery_target_xid",
  "restart_after_crash",
  "restore_command",
  "ssl",
  "ssl_ca_file",
  "ssl_cert_file",
  "ssl_crl_dir",
  "ssl_crl_file",
  "ssl_dh_params_file",
  "ssl_key_file",
  "ssl_passphrase_command",
  "synchronous_standby_names",
  "syslog_facility",
  "syslog_ident",
  "unix_socket_directories",
  "unix_socket_group",
  "unix_socket_permissions",
  "wal_level",
  "wal_log_hints",
];

/**
 * For the admission of a cluster, the same in CEL: a rule for each name. An API server refuses one rule that
 * names the names, because it takes each for as long as a request may be.
 */
export const parameterRules: readonly { readonly rule: string; readonly message: string }[] = fixedParameters.map(
  (name) => ({
    rule: `!("${name}" in self)`,
    message: `the operator sets ${name}, because failover, TLS or recovery stand on it; remove it`,
  }),
);

/** A name as PostgreSQL writes it; extensions have theirs before a dot. */
const parameterName = /^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/;
/** A line break would begin another setting. */
const lineBreak = /[\r\n\0]/;

/** Why these parameters cannot be set, by the field of the spec. */
export function parameterRefusals(parameters: Readonly<Record<string, string>>): readonly ParameterRefusal[] {
  return Object.entries(parameters).flatMap(([name, value]) => {
    const why = refusalOf(name, value);
    return why === undefined ? [] : [{ field: `spec.parameters[${name}]`, why }];
  });
}

function refusalOf(name: string, value: string): string | undefined {
  if (!parameterName.test(name)) return `"${name}" is not the name of a setting of PostgreSQL; write it in lower case`;
  if (fixedParameters.includes(name))
    return `the operator sets ${name}, because failover, TLS or recovery stand on it; remove it`;
  return lineBreak.test(value) ? `the value of ${name} has a line break; write it on one line` : undefined;
}

/** What a cluster has when its user says nothing. */
export const defaultParameters: Readonly<Record<string, string>> = {
  max_connections: "100",
  max_wal_senders: "20",
  max_replication_slots: "32",
  max_worker_processes: "32",
  max_prepared_transactions: "0",
  max_locks_per_transaction: "64",
  wal_keep_size: "512MB",
  wal_sender_timeout: "5s",
  wal_receiver_timeout: "5s",
  // Of a server that writes little, at most so much is not in the archive.
  archive_timeout: "5min",
  checkpoint_timeout: "5min",
  password_encryption: "scram-sha-256",
  ssl_min_protocol_version: "TLSv1.2",
};
