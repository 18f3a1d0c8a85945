/** Names of roles and databases that belong to PostgreSQL, to the operator, or to nobody. */

/** Labels that start with a letter or underscore; a minus is quoted in SQL. */
export const innerName = /^[a-z_][a-z0-9_-]*$/;

export const reservedRoles: readonly string[] = [
  "postgres",
  "streaming_replica",
  "setpoint_pooler",
  "setpoint_monitor",
  "public",
  "none",
];
export const reservedDatabases: readonly string[] = ["postgres", "template0", "template1", "pgbouncer"];

export function isReservedRole(name: string): boolean {
  return reservedRoles.includes(name) || name.startsWith("pg_");
}

/** Members of these run programs or use files as the server does, and so are superusers in effect. */
export const superuserGroups: readonly string[] = [
  "pg_execute_server_program",
  "pg_read_server_files",
  "pg_write_server_files",
];
