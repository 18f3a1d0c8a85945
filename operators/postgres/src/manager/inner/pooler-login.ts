/** The role by which poolers ask for the verifiers of their clients; it may do nothing else. */
import { poolerRole } from "../../instance/pooler-protocol.ts";
import type { Sql } from "../sql.ts";
import { runInner } from "./inner-sql.ts";

/** Superusers, and the roles of the operator, never get in by a pooler. */
const statements = `begin;
create schema if not exists setpoint;
do $create$ begin
  if not exists (select from pg_roles where rolname = '${poolerRole}') then create role ${poolerRole}; end if;
end $create$;
alter role ${poolerRole} with login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password null;
create or replace function setpoint.login_of(wanted text) returns table (name name, verifier text)
  language sql security definer set search_path = pg_catalog as $login$
    select rolname, rolpassword from pg_authid
    where rolname = wanted and rolcanlogin and not rolsuper and not rolreplication
      and rolname not in ('${poolerRole}') and coalesce(rolvaliduntil > now(), true) $login$;
revoke all on function setpoint.login_of(text) from public;
grant usage on schema setpoint to ${poolerRole};
grant execute on function setpoint.login_of(text) to ${poolerRole};
commit;`;

export async function ensurePoolerLogin(sql: Sql): Promise<object> {
  await runInner(sql, statements);
  return {};
}
