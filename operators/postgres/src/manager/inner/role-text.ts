/** The statements about one role; pure. Each may run any number of times. */
import type { RoleAttributes, RoleDefinition } from "../../instance/inner-protocol.ts";
import { superuserGroups } from "../../kind/inner-names.ts";
import { identifier, literal } from "../sql-text.ts";
import { heldText } from "./held-objects.ts";

/** One row with the name and its RoleFacts, or null, as JSON. */
export function factsText({ name, verifier }: RoleDefinition): string {
  const wanted = typeof verifier === "string" ? literal(verifier) : "null";
  return `select json_build_object('name', ${literal(name)}, 'facts', (select json_build_object(
  'holder', ${heldText("role", "r.rolname", "r.oid")},
  'isSuperuser', r.rolsuper,
  'attributes', json_build_object('login', r.rolcanlogin, 'createDatabase', r.rolcreatedb,
    'createRole', r.rolcreaterole, 'inherit', r.rolinherit, 'connectionLimit', r.rolconnlimit,
    'validUntil', case when isfinite(r.rolvaliduntil)
      then to_char(r.rolvaliduntil at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') end),
  'memberOf', coalesce((select json_agg(distinct g.rolname order by g.rolname) from pg_auth_members m
    join pg_authid g on g.oid = m.roleid where m.member = r.oid), '[]'),
  'password', case when r.rolpassword is null then 'none' when r.rolpassword = ${wanted} then 'same' else 'other' end,
  'actsAs', (select substr(setting, 6) from pg_db_role_setting s, unnest(s.setconfig) setting
    where s.setrole = r.oid and s.setdatabase = 0 and setting like 'role=%' limit 1))
from pg_authid r where r.rolname = ${literal(name)}));`;
}

/** One row as JSON: which of the names are no roles, and whose members are superusers in effect. */
export function groupsText(groups: readonly string[]): string {
  const reached = superuserGroups.map((group) => `pg_has_role(r.oid, ${literal(group)}, 'member')`).join(" or ");
  return `select json_build_object(
  'missing', coalesce(json_agg(wanted) filter (where r.oid is null), '[]'),
  'superuser', coalesce(json_agg(wanted) filter (where ${reached} or r.rolreplication), '[]'))
from unnest(array[${groups.map(literal).join(", ")}]::text[]) wanted left join pg_roles r on r.rolname = wanted;`;
}

/** Nobody's object is a superuser, a role of the operator, or one that PostgreSQL has from its start. */
export function protectText(name: string): string {
  return `do $protect$ begin
  if exists (select from pg_roles where rolname = ${literal(name)} and (rolsuper or rolreplication or oid < 16384))
  then raise exception '%', ${literal(`role ${JSON.stringify(name)} belongs to PostgreSQL or to the operator`)}; end if;
end $protect$;`;
}

/** What of a role is changed, in this order, inside of a transaction. */
export function changeText(role: RoleDefinition): readonly string[] {
  const name = identifier(role.name);
  return [
    `do $create$ begin
  if not exists (select from pg_roles where rolname = ${literal(role.name)}) then create role ${name}; end if;
end $create$;`,
    ...(role.endsSessions === true ? [endSessionsText(role.name)] : []),
    `alter role ${name} with ${attributesText(role.attributes)}${passwordText(role.verifier)};`,
    revokeText(role),
    ...role.memberOf.map((group) => grantText(role.name, group)),
    role.actsAs === undefined
      ? `alter role ${name} reset role;`
      : `alter role ${name} set role ${identifier(role.actsAs)};`,
  ];
}

function attributesText(attributes: RoleAttributes): string {
  const flag = (isSet: boolean, word: string): string => (isSet ? word : `no${word}`);
  return [
    flag(attributes.login, "login"),
    flag(attributes.createDatabase, "createdb"),
    flag(attributes.createRole, "createrole"),
    flag(attributes.inherit, "inherit"),
    `connection limit ${attributes.connectionLimit}`,
    `valid until ${literal(attributes.validUntil ?? "infinity")}`,
  ].join(" ");
}

function passwordText(verifier: string | null | undefined): string {
  if (verifier === undefined) return "";
  return verifier === null ? " password null" : ` password ${literal(verifier)}`;
}

/** Only where it has had a login until now. */
function endSessionsText(name: string): string {
  return `select count(pg_terminate_backend(a.pid)) from pg_stat_activity a, pg_roles r
where r.rolname = ${literal(name)} and r.rolcanlogin and a.usesysid = r.oid \\g /dev/null`;
}

/** A role is not granted again: since PostgreSQL 16 that would be a second grant. */
function grantText(name: string, group: string): string {
  return `do $grant$ begin
  if not exists (select from pg_auth_members m where m.roleid = ${oidOf(group)} and m.member = ${oidOf(name)})
  then grant ${identifier(group)} to ${identifier(name)}; end if;
end $grant$;`;
}

function oidOf(role: string): string {
  return `(select oid from pg_roles where rolname = ${literal(role)})`;
}

/** Since PostgreSQL 16, each grantor's grant is one of its own. */
function revokeText({ name, memberOf }: RoleDefinition): string {
  const kept = memberOf.map(literal).join(", ");
  return `do $revoke$ declare grant_ record; begin
  for grant_ in select g.rolname as group_, f.rolname as grantor from pg_auth_members m
    join pg_roles g on g.oid = m.roleid left join pg_roles f on f.oid = m.grantor
    where m.member = ${oidOf(name)} and not g.rolname = any (array[${kept}]::text[])
  loop
    if current_setting('server_version_num')::int >= 160000 then
      execute format('revoke %I from %I granted by %I', grant_.group_, ${literal(name)}, grant_.grantor);
    else
      execute format('revoke %I from %I', grant_.group_, ${literal(name)});
    end if;
  end loop;
end $revoke$;`;
}
