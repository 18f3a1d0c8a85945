/** Roles of another server as statements that make them here; pure. Source: PostgreSQL on CREATE ROLE. */
import { poolerRole } from "../../instance/pooler-protocol.ts";
import { replicationRole } from "../paths.ts";
import { identifier, literal } from "../sql-text.ts";

/** A role as the other server describes it. */
export interface SourceRole {
  readonly name: string;
  readonly login: boolean;
  readonly inherit: boolean;
  readonly createdb: boolean;
  readonly createrole: boolean;
  readonly replication: boolean;
  readonly bypassrls: boolean;
  readonly connectionLimit: number;
  readonly validUntil: string | null;
  /** The verifier, never a password in clear text; null when it has none, or was not asked for. */
  readonly password: string | null;
  /** `name=value` each. */
  readonly settings: readonly string[] | null;
}

export interface Membership {
  readonly role: string;
  readonly member: string;
  readonly admin: boolean;
}

/** Roles that this server has already, or that are its operator's. */
const ownRoles: ReadonlySet<string> = new Set(["postgres", replicationRole, poolerRole]);
/** PostgreSQL stores the values of these as lists with quotes where they are needed. */
const listSettings: ReadonlySet<string> = new Set([
  "local_preload_libraries",
  "search_path",
  "session_preload_libraries",
  "shared_preload_libraries",
  "temp_tablespaces",
  "unix_socket_directories",
]);

/** Asks for roles as JSON; only a superuser may read verifiers. */
export function rolesQuery(hasPasswords: boolean): string {
  return `select coalesce(json_agg(role order by name), '[]') from (
    select rolname as name, rolcanlogin as login, rolinherit as inherit, rolcreatedb as createdb,
      rolcreaterole as createrole, rolreplication as replication, rolbypassrls as bypassrls,
      rolconnlimit as "connectionLimit", rolvaliduntil as "validUntil",
      ${hasPasswords ? "rolpassword" : "null"} as password,
      (select setconfig from pg_db_role_setting where setrole = roles.oid and setdatabase = 0) as settings
    from ${hasPasswords ? "pg_authid" : "pg_roles"} roles where rolname !~ '^pg_') role`;
}

export const membershipsQuery = `select coalesce(json_agg(membership order by role, member), '[]') from (
  select pg_get_userbyid(roleid) as role, pg_get_userbyid(member) as member, bool_or(admin_option) as admin
  from pg_auth_members group by 1, 2) membership`;

/** Those of `roles` that are asked for and are not there already. */
export function rolesToMake(roles: readonly SourceRole[], wanted: readonly string[]): readonly SourceRole[] {
  return roles.filter(({ name }) => !ownRoles.has(name) && (wanted.includes("*") || wanted.includes(name)));
}

/** None becomes a superuser: that one never gets in from outside. */
export function roleStatements(roles: readonly SourceRole[], memberships: readonly Membership[]): string {
  const made = new Set(roles.map(({ name }) => name));
  const exists = (role: string): boolean => made.has(role) || role.startsWith("pg_");
  const granted = memberships
    .filter(({ role, member }) => exists(role) && made.has(member))
    .map(
      ({ role, member, admin }) =>
        `grant ${identifier(role)} to ${identifier(member)}${admin ? " with admin option" : ""};`,
    );
  return [...roles.flatMap(statementsOf), ...granted].join("\n");
}

function statementsOf(role: SourceRole): readonly string[] {
  const name = identifier(role.name);
  const flags = (["login", "inherit", "createdb", "createrole", "replication", "bypassrls"] as const).map((flag) =>
    role[flag] ? flag : `no${flag}`,
  );
  const options = [
    ...flags,
    `connection limit ${role.connectionLimit}`,
    ...(role.validUntil === null ? [] : [`valid until ${literal(role.validUntil)}`]),
    ...(role.password === null ? [] : [`password ${literal(role.password)}`]),
  ];
  const settings = (role.settings ?? []).map((each) => settingOf(name, each));
  return [`create role ${name} ${options.join(" ")};`, ...settings];
}

function settingOf(role: string, text: string): string {
  const at = text.indexOf("=");
  const [setting, value] = [text.slice(0, at), text.slice(at + 1)];
  const given = listSettings.has(setting) ? value : literal(value);
  return `alter role ${role} set ${setting.split(".").map(identifier).join(".")} to ${given === "" ? "''" : given};`;
}
