/** The texts of PgBouncer's configuration; pure. */
import { type DesiredPooler, poolerRole } from "../../instance/pooler-protocol.ts";
import { poolerPort, postgresPort } from "../../kind/names.ts";

/** Where a pod of a pooler has its files. */
export const poolerPaths = {
  run: "/run/setpoint",
  configuration: "/run/setpoint/pgbouncer.ini",
  /** What the operator said last. */
  desired: "/run/setpoint/desired.json",
  certificates: "/etc/postgres/tls/pooler",
} as const;

/** The user's settings come first: of two lines for one setting, PgBouncer takes the last. */
export function poolerConfiguration({ host, settings }: DesiredPooler): string {
  const tls = (file: string): string => `${poolerPaths.certificates}/${file}`;
  const own: Readonly<Record<string, string | number>> = {
    listen_addr: "*",
    listen_port: poolerPort,
    unix_socket_dir: poolerPaths.run,
    unix_socket_mode: "0700",
    pool_mode: settings.poolMode,
    auth_type: "scram-sha-256",
    auth_user: poolerRole,
    auth_dbname: "postgres",
    auth_query: "select name, verifier from setpoint.login_of($1)",
    client_tls_sslmode: "require",
    client_tls_ca_file: tls("ca.crt"),
    client_tls_cert_file: tls("tls.crt"),
    client_tls_key_file: tls("tls.key"),
    server_tls_sslmode: "verify-full",
    server_tls_ca_file: tls("ca.crt"),
    server_tls_cert_file: tls("tls.crt"),
    server_tls_key_file: tls("tls.key"),
    // A pod that comes back has another address.
    dns_max_ttl: 1,
    server_login_retry: 1,
    // Sessions of a server that is not asked any more end with their transaction.
    server_fast_close: 1,
  };
  const defaults = { max_client_conn: 1000, ignore_startup_parameters: "extra_float_digits,options" };
  const lines = Object.entries({ ...defaults, ...settings.parameters, ...own });
  return [
    "; Written by the manager of the pooler; changes are overwritten.",
    "[databases]",
    `* = host=${host} port=${postgresPort}`,
    "[pgbouncer]",
    ...lines.map(([name, value]) => `${name} = ${value}`),
    "",
  ].join("\n");
}
