/** The roles and the database that each cluster has; the statements may run any number of times. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { monitorRole, paths, replicationRole } from "./paths.ts";
import type { Sql } from "./sql.ts";
import { identifier, literal } from "./sql-text.ts";

const iterations = 4_096;
const keyBytes = 32;
const saltBytes = 16;

/** What instances need to copy and rewind each other's data. */
const replicationStatements = `
do $$ begin
  if not exists (select from pg_roles where rolname = '${replicationRole}') then
    create role ${replicationRole} login replication;
  end if;
end $$;
grant execute on function pg_ls_dir(text, boolean, boolean) to ${replicationRole};
grant execute on function pg_stat_file(text, boolean) to ${replicationRole};
grant execute on function pg_read_binary_file(text) to ${replicationRole};
grant execute on function pg_read_binary_file(text, bigint, bigint, boolean) to ${replicationRole};
`;

/** The role of metrics may read statistics, and no table. */
const monitorStatements = `
do $$ begin
  if not exists (select from pg_roles where rolname = '${monitorRole}') then create role ${monitorRole}; end if;
end $$;
alter role ${monitorRole} with login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
  connection limit 3 password null;
grant pg_monitor to ${monitorRole};
`;

export interface WantedDatabase {
  readonly name: string;
  readonly owner: string;
}

/** Creates what is missing, and gives the owner the password of the Secret. */
export async function ensureInnerObjects(sql: Sql, { name, owner }: WantedDatabase): Promise<void> {
  await sql.run(`${replicationStatements}${monitorStatements}`);
  const verifier = await verifierFor(sql, owner, readPassword());
  await sql.run(`
do $$ begin
  if not exists (select from pg_roles where rolname = ${literal(owner)}) then create role ${identifier(owner)} login; end if;
end $$;
alter role ${identifier(owner)} login password ${literal(verifier)};`);
  const found = await sql.run(`select 1 from pg_database where datname = ${literal(name)}`);
  if (found === "") await sql.run(`create database ${identifier(name)} owner ${identifier(owner)}`);
}

/** The Secret's password; its file changes when the Secret does. */
export function readPassword(): string {
  return readFileSync(paths.password, "utf8").trim();
}

/**
 * The verifier that the role has, when it is one of this password. With another salt, poolers could not log
 * in for the clients that they have.
 */
export async function verifierFor(sql: Sql, role: string, password: string): Promise<string> {
  const present = await sql.run(`select rolpassword from pg_authid where rolname = ${literal(role)}`);
  return isVerifierOf(present, password) ? present : passwordVerifier(password, randomBytes(saltBytes));
}

export function isVerifierOf(verifier: string, password: string): boolean {
  const salt = /^SCRAM-SHA-256\$4096:([^$]+)\$/.exec(verifier)?.[1];
  return salt !== undefined && passwordVerifier(password, Buffer.from(salt, "base64")) === verifier;
}

/**
 * What PostgreSQL stores of a password, as RFC 5802 and its documentation of pg_authid describe it: the
 * password itself is in no statement and in no log.
 */
export function passwordVerifier(password: string, salt: Buffer): string {
  const salted = pbkdf2Sync(password, salt, iterations, keyBytes, "sha256");
  const keyOf = (label: string): Buffer => createHmac("sha256", salted).update(label).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${keyOf("Server Key").toString("base64")}`;
}
