/** Which settings of PgBouncer a user may choose; pure. */
import type { RefusedField } from "../inner/refused-field.ts";

/** Those on which nothing of the operator stands. */
export const allowedParameters: readonly string[] = [
  "application_name_add_host",
  "autodb_idle_timeout",
  "cancel_wait_timeout",
  "client_idle_timeout",
  "client_login_timeout",
  "client_tls_ciphers",
  "client_tls_protocols",
  "default_pool_size",
  "disable_pqexec",
  "idle_transaction_timeout",
  "ignore_startup_parameters",
  "log_connections",
  "log_disconnections",
  "log_pooler_errors",
  "log_stats",
  "max_client_conn",
  "max_db_connections",
  "max_packet_size",
  "max_prepared_statements",
  "max_user_connections",
  "min_pool_size",
  "query_timeout",
  "query_wait_timeout",
  "reserve_pool_size",
  "reserve_pool_timeout",
  "sbuf_loopcnt",
  "server_check_delay",
  "server_check_query",
  "server_connect_timeout",
  "server_idle_timeout",
  "server_lifetime",
  "server_reset_query",
  "server_reset_query_always",
  "server_round_robin",
  "server_tls_ciphers",
  "server_tls_protocols",
  "stats_period",
  "suspend_timeout",
  "tcp_defer_accept",
  "tcp_keepalive",
  "tcp_keepcnt",
  "tcp_keepidle",
  "tcp_keepintvl",
  "tcp_socket_buffer",
  "tcp_user_timeout",
  "track_extra_parameters",
  "verbose",
];

/** A line break would begin another setting. */
const lineBreak = /[\r\n\0]/;

export function parameterRefusals(parameters: Readonly<Record<string, string>>): readonly RefusedField[] {
  return Object.entries(parameters).flatMap(([name, value]) => {
    const why = refusalOf(name, value);
    return why === undefined ? [] : [{ field: `spec.parameters[${name}]`, why }];
  });
}

function refusalOf(name: string, value: string): string | undefined {
  if (!allowedParameters.includes(name))
    return `the operator sets it, or it is no setting of PgBouncer; expected one of ${allowedParameters.join(", ")}`;
  return lineBreak.test(value) ? "the value has a line break; write it on one line" : undefined;
}
