/** Roles of PostgresRoles in the server of this pod. */
import type {
  RemovalAnswer,
  RoleAnswer,
  RoleChange,
  RoleFacts,
  RoleQuestion,
  RoleRemoval,
} from "../../instance/inner-protocol.ts";
import type { Sql } from "../sql.ts";
import { identifier, literal } from "../sql-text.ts";
import { checkText, ensureHeldTable, forgetText, isHeldBy, lockText, recordText } from "./held-objects.ts";
import { runInner } from "./inner-sql.ts";
import { changeText, factsText, groupsText, protectText } from "./role-text.ts";

/** All in one session: many roles are asked about every half minute. */
export async function answerRoles(sql: Sql, { roles }: RoleQuestion): Promise<RoleAnswer> {
  await ensureHeldTable(sql);
  const own = new Set(roles.map(({ name }) => name));
  const groups = [...new Set(roles.flatMap(({ memberOf }) => memberOf))].filter((group) => !own.has(group));
  const rows = (await runInner(sql, [...roles.map(factsText), groupsText(groups)].join("\n"))).split("\n");
  const facts = rows
    .slice(0, -1)
    .map((row) => JSON.parse(row) as { readonly name: string; readonly facts: RoleFacts | null });
  const { missing, superuser } = JSON.parse(rows.at(-1) ?? "") as {
    readonly missing: readonly string[];
    readonly superuser: readonly string[];
  };
  return {
    roles: Object.fromEntries(facts.map((each) => [each.name, each.facts])),
    missingGroups: missing,
    superuserGroups: superuser,
  };
}

/** Those of the names that are no roles. */
export async function missingRoles(sql: Sql, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const list = names.map(literal).join(", ");
  const rows = await runInner(
    sql,
    `select wanted from unnest(array[${list}]) wanted where wanted not in (select rolname from pg_roles)`,
  );
  return rows.split("\n").filter((row) => row !== "");
}

/** All of them in one transaction, with the record of whom they belong to. */
export async function changeRoles(sql: Sql, { holder, roles }: RoleChange): Promise<object> {
  await ensureHeldTable(sql);
  const statements = roles.flatMap((role) => [
    protectText(role.name),
    checkText("role", role.name, holder),
    ...changeText(role),
    recordText("role", role.name, holder),
  ]);
  await runInner(sql, ["begin;", lockText, ...statements, "commit;"].join("\n"));
  return {};
}

/** What the roles own goes to the heir first; without one, what they own holds the removal back. */
export async function removeRoles(sql: Sql, { holder, names, heir, isRelease }: RoleRemoval): Promise<RemovalAnswer> {
  await ensureHeldTable(sql);
  const heldBack: string[] = [];
  for (const name of names) {
    if (!isRelease && (await isHeldBy(sql, "role", name, holder))) heldBack.push(...(await dropRole(sql, name, heir)));
    if (heldBack.length === 0) await runInner(sql, forgetText("role", name, holder));
  }
  return { heldBack };
}

async function dropRole(sql: Sql, name: string, heir: string | undefined): Promise<readonly string[]> {
  const role = identifier(name);
  if (heir !== undefined && (await missingRoles(sql, [heir])).length > 0)
    return [`role ${JSON.stringify(heir)}, which should own what ${JSON.stringify(name)} owns, does not exist`];
  const owned = heir === undefined ? await ownedBy(sql, name) : [];
  if (owned.length > 0) return owned;
  await runInner(sql, `alter role ${role} nologin;`);
  await runInner(sql, `select pg_terminate_backend(pid) from pg_stat_activity where usename = ${literal(name)}`);
  const reassigned = heir === undefined ? "" : `reassign owned by ${role} to ${identifier(heir)};`;
  for (const database of await databases(sql))
    await runInner(sql, `begin; ${reassigned} ${nothingOwnedText(name)} drop owned by ${role}; commit;`, database);
  await runInner(sql, `drop role ${role}`);
  return [];
}

/** `drop owned` also withdraws privileges; it must not drop what came into being since. */
function nothingOwnedText(name: string): string {
  return `do $check$ begin
  if exists (select from pg_shdepend where refclassid = 'pg_authid'::regclass and deptype = 'o'
    and refobjid = (select oid from pg_roles where rolname = ${literal(name)})
    and dbid in (0, (select oid from pg_database where datname = current_database())))
  then raise exception '%', ${literal(`role ${JSON.stringify(name)} owns objects again`)}; end if;
end $check$;`;
}

/** How many objects in which databases. */
async function ownedBy(sql: Sql, name: string): Promise<readonly string[]> {
  const rows = await runInner(
    sql,
    `select coalesce((select datname from pg_database where oid = dbid), ''), count(*) from pg_shdepend
     where refclassid = 'pg_authid'::regclass and deptype = 'o'
       and refobjid = (select oid from pg_roles where rolname = ${literal(name)}) group by 1 order by 1`,
  );
  return rows
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => {
      const [database = "", count = ""] = row.split("\t");
      const where = database === "" ? "as databases" : `in database ${JSON.stringify(database)}`;
      return `role ${JSON.stringify(name)} owns ${count} ${count === "1" ? "object" : "objects"} ${where}`;
    });
}

async function databases(sql: Sql): Promise<readonly string[]> {
  const rows = await runInner(sql, "select datname from pg_database where datallowconn order by datname");
  return rows.split("\n").filter((row) => row !== "");
}
