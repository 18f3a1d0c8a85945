/** Users of bindings, in the server of this pod; every statement may run any number of times. */
import type { DatabaseAccess, DroppedUser, Login, WantedUser } from "../instance/user-protocol.ts";
import { verifierFor } from "./inner-objects.ts";
import { paths } from "./paths.ts";
import { lastLine, type Programs } from "./programs.ts";
import type { Sql } from "./sql.ts";
import { identifier, literal } from "./sql-text.ts";

const loginMsMax = 5_000;

/** The database with the owner in whose name its objects are made. */
interface Database {
  readonly name: string;
  readonly owner: string;
}

/**
 * Creates the user, or gives the present one this password, and takes away what is not among its rights.
 *
 * Errors: a right names a database that does not exist.
 */
export async function ensureUser(sql: Sql, { user, password, rights }: WantedUser): Promise<void> {
  const databases = await databasesOf(sql);
  const unknown = rights.find(({ database }) => !databases.some(({ name }) => name === database));
  if (unknown !== undefined)
    throw new Error(`Cannot grant rights in database "${unknown.database}": it does not exist`);
  await sql.run(createText(user, await verifierFor(sql, user, password)));
  for (const database of databases) {
    const right = rights.find((each) => each.database === database.name);
    await sql.run(grantText(user, database, right?.access), database.name);
  }
}

/** Logs in over TLS, as a client does. Rejects with what PostgreSQL says. */
export async function proveLogin(programs: Programs, { user, password, database }: Login): Promise<void> {
  const connection = { host: "127.0.0.1", user, dbname: database, sslmode: "require", connect_timeout: "3" };
  const text = Object.entries(connection)
    .map(([key, value]) => `${key}='${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`)
    .join(" ");
  const { code, output } = await programs.run("psql", ["-X", "-A", "-t", "-w", "-d", text, "-f", "-"], {
    input: "select 1",
    env: { PGPASSWORD: password, PGPASSFILE: `${paths.run}/none` },
    signal: AbortSignal.timeout(loginMsMax),
  });
  if (code !== 0) throw new Error(`Cannot log in as "${user}": ${lastLine(output)}`);
}

/** Ends the user's sessions, gives away what it owns, and drops it. A user who is gone already is dropped. */
export async function dropUser(sql: Sql, { user, heir }: DroppedUser): Promise<void> {
  if (!(await exists(sql, user))) return;
  const isHeirThere = heir !== undefined && (await exists(sql, heir));
  await sql.run(`alter role ${identifier(user)} nologin`);
  await sql.run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${literal(user)}`);
  for (const { name, owner } of await databasesOf(sql))
    await sql.run(dropOwnedText(user, isHeirThere ? heir : owner), name);
  await sql.run(`drop role if exists ${identifier(user)}`);
}

async function exists(sql: Sql, user: string): Promise<boolean> {
  return (await sql.run(`select 1 from pg_roles where rolname = ${literal(user)}`)) !== "";
}

/** Those that users can connect to. */
async function databasesOf(sql: Sql): Promise<readonly Database[]> {
  const rows = await sql.run(
    "select datname, pg_get_userbyid(datdba) from pg_database where datallowconn and not datistemplate order by datname",
  );
  return rows
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => {
      const [name = "", owner = ""] = row.split("\t");
      return { name, owner };
    });
}

export function createText(user: string, verifier: string): string {
  return `do $$ begin
  if not exists (select from pg_roles where rolname = ${literal(user)}) then create role ${identifier(user)} login; end if;
end $$;
alter role ${identifier(user)} login password ${literal(verifier)};`;
}

const tableRights = { readwrite: "select, insert, update, delete", readonly: "select" } as const;

/** All rights in one database: first none, then those that are wanted, in one transaction. */
export function grantText(user: string, { name, owner }: Database, access: DatabaseAccess | undefined): string {
  const [role, database, maker] = [identifier(user), identifier(name), identifier(owner)];
  const withdrawn = [
    `alter role ${role} in database ${database} reset role`,
    ...(owner === "postgres" ? [] : [`revoke ${maker} from ${role}`]),
    `revoke all on all tables in schema public from ${role}`,
    `revoke all on all sequences in schema public from ${role}`,
    `revoke all on schema public from ${role}`,
    `alter default privileges for role ${maker} in schema public revoke all on tables from ${role}`,
    `alter default privileges for role ${maker} in schema public revoke all on sequences from ${role}`,
  ];
  return ["begin", ...withdrawn, ...granted(access, { role, database, maker }), "commit"].join(";\n");
}

function granted(
  access: DatabaseAccess | undefined,
  { role, database, maker }: { readonly role: string; readonly database: string; readonly maker: string },
): readonly string[] {
  if (access === undefined) return [];
  // What the user makes belongs to the owner, so that it outlives the user.
  if (access === "owner")
    return [`grant ${maker} to ${role}`, `alter role ${role} in database ${database} set role ${maker}`];
  const rights = tableRights[access];
  const ofSequences = access === "readwrite" ? "usage, select" : "select";
  return [
    `grant usage on schema public to ${role}`,
    `grant ${rights} on all tables in schema public to ${role}`,
    `grant ${ofSequences} on all sequences in schema public to ${role}`,
    `alter default privileges for role ${maker} in schema public grant ${rights} on tables to ${role}`,
    `alter default privileges for role ${maker} in schema public grant ${ofSequences} on sequences to ${role}`,
  ];
}

function dropOwnedText(user: string, heir: string): string {
  return `begin; reassign owned by ${identifier(user)} to ${identifier(heir)}; drop owned by ${identifier(user)}; commit`;
}
