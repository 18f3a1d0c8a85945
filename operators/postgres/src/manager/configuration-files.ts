/** The texts of PostgreSQL's configuration files; pure. */
import { postgresPort, programPath } from "../kind/names.ts";
import type { ServerSettings } from "../instance/instance-protocol.ts";
import { poolerRole } from "../instance/pooler-protocol.ts";
import { archiveScriptName } from "./archive-command.ts";
import { monitorRole, paths, replicationRole } from "./paths.ts";

export interface ServerIdentity {
  /** The name of the instance. */
  readonly name: string;
  /** The host of the primary that it follows; absent for the primary itself. */
  readonly follows?: string | undefined;
  /** Whether the settings of a restore count, until the server has recovered. */
  readonly recovers?: boolean | undefined;
}

/** The user's settings come first: of two lines for one setting, PostgreSQL takes the last. */
export function configurationText(settings: ServerSettings, identity: ServerIdentity): string {
  const own: Readonly<Record<string, string>> = {
    listen_addresses: "*",
    port: String(postgresPort),
    unix_socket_directories: paths.socket,
    unix_socket_permissions: "0700",
    cluster_name: identity.name,
    ssl: "on",
    ssl_ca_file: `${paths.certificates}/server/ca.crt`,
    ssl_cert_file: `${paths.certificates}/server/tls.crt`,
    ssl_key_file: `${paths.certificates}/server/tls.key`,
    wal_level: "logical",
    // pg_rewind needs one of these two in data without checksums.
    wal_log_hints: "on",
    hot_standby: "on",
    full_page_writes: "on",
    fsync: "on",
    // The instance manager decides whether a server that crashed comes back.
    restart_after_crash: "off",
    logging_collector: "off",
    log_destination: "stderr",
    // Its change needs a restart; the command is read again with each reload.
    archive_mode: "on",
    archive_command: settings.isArchived ? `${programPath}/${archiveScriptName} "%p" "%f"` : "true",
    synchronous_standby_names: settings.synchronousStandbyNames,
    recovery_target_timeline: "latest",
    primary_conninfo: identity.follows === undefined ? "" : connectionText(identity.follows, identity.name),
  };
  const lines = Object.entries({ ...settings.parameters, ...own }).map(([name, value]) => `${name} = ${quoted(value)}`);
  const included = identity.recovers === true ? [`include = ${quoted(paths.recovery)}`] : [];
  return ["# Written by the instance manager; changes are overwritten.", ...lines, ...included, ""].join("\n");
}

/** The first line of the user's rules in pg_hba.conf, counted from 1. */
export const firstAccessRuleLine = 12;

/** Nobody gets in as the superuser but over the socket, which only this pod has. */
export function accessText({ accessRules }: ServerSettings): string {
  return [
    "# Written by the instance manager; changes are overwritten.",
    "local all all trust",
    "local replication all trust",
    `hostssl replication ${replicationRole} all cert`,
    `hostssl postgres ${replicationRole} all cert`,
    "host all postgres all reject",
    `host all ${replicationRole} all reject`,
    `host replication all all reject`,
    `hostssl postgres ${poolerRole} all cert`,
    `host all ${poolerRole} all reject`,
    `host all ${monitorRole} all reject`,
    ...accessRules,
    "hostssl all all all scram-sha-256",
    "",
  ].join("\n");
}

/** How one instance connects to another, in the words of libpq. */
export function connectionText(host: string, applicationName: string): string {
  const parts = {
    host,
    port: String(postgresPort),
    user: replicationRole,
    dbname: "postgres",
    application_name: applicationName,
    sslmode: "verify-full",
    sslrootcert: `${paths.certificates}/replication/ca.crt`,
    sslcert: `${paths.certificates}/replication/tls.crt`,
    sslkey: `${paths.certificates}/replication/tls.key`,
    connect_timeout: "3",
    tcp_user_timeout: "5000",
  };
  return Object.entries(parts)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}

function quoted(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
