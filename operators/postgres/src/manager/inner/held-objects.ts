/**
 * The table in the database `postgres` that says which role or database belongs to which object. It travels
 * with the data, and the OID in it tells a namesake that was made by hand since.
 */
import type { Holder } from "../../instance/inner-protocol.ts";
import type { Sql } from "../sql.ts";
import { literal } from "../sql-text.ts";
import { runInner } from "./inner-sql.ts";

export type HeldKind = "role" | "database";

export const heldTable = "setpoint.held_objects";

const tableText = `create schema if not exists setpoint;
create table if not exists ${heldTable} (kind text, name text, id oid, holder text not null,
  revision bigint not null, primary key (kind, name));`;

/** Sessions to servers that have the table. */
const ensured = new WeakSet<Sql>();

/** Creates the table when there is none. */
export async function ensureHeldTable(sql: Sql): Promise<void> {
  if (ensured.has(sql)) return;
  const found = await runInner(sql, `select to_regclass('${heldTable}') is not null`);
  if (found !== "t") await runInner(sql, tableText);
  ensured.add(sql);
}

/** After an error: a rewind may have taken the table away. */
export function forgetHeldTable(sql: Sql): void {
  ensured.delete(sql);
}

/** For a transaction: changes come one after another. */
export const lockText = `lock table ${heldTable} in share row exclusive mode;`;

const catalogues = { role: ["pg_roles", "rolname"], database: ["pg_database", "datname"] } as const;

/**
 * The record of what has this name and this OID, as JSON or null. Without an OID its creation was
 * interrupted: then no revision has been carried out.
 */
export function heldText(kind: HeldKind, name: string, oid: string): string {
  return `(select json_build_object('uid', holder, 'revision', case when h.id is null then -1 else revision end)
    from ${heldTable} h where h.kind = '${kind}' and h.name = ${name} and coalesce(h.id, ${oid}) = ${oid})`;
}

function isForeignText(uid: string): string {
  // Of a database whose creation was interrupted, the OID is not recorded yet.
  return `found is not null and (held.holder is distinct from ${literal(uid)} or held.id <> found)`;
}

/** Refuses what belongs to another one, and a request of an older spec than was seen. */
export function checkText(kind: HeldKind, name: string, { uid, revision, adopts }: Holder): string {
  const [catalogue, column] = catalogues[kind];
  const foreign = `${kind} ${JSON.stringify(name)} exists and does not belong to this object`;
  return `do $check$ declare held ${heldTable}; found oid; begin
  select oid into found from pg_catalog.${catalogue} where ${column} = ${literal(name)};
  select * into held from ${heldTable} where kind = '${kind}' and name = ${literal(name)};
  if held.holder = ${literal(uid)} and held.revision > ${revision} then
    raise exception 'revision ${revision} is older than revision %', held.revision;
  end if;
  if ${adopts ? "false" : isForeignText(uid)} then
    raise exception ${literal(foreign.replaceAll("%", "%%"))};
  end if;
end $check$;`;
}

export function recordText(kind: HeldKind, name: string, { uid, revision }: Holder): string {
  const [catalogue, column] = catalogues[kind];
  return `insert into ${heldTable} values ('${kind}', ${literal(name)},
  (select oid from pg_catalog.${catalogue} where ${column} = ${literal(name)}), ${literal(uid)}, ${revision})
on conflict (kind, name) do update set id = excluded.id, holder = excluded.holder, revision = excluded.revision;`;
}

/** Before a change in several steps: whose it is, while no revision has been carried out. */
export function claimText(kind: HeldKind, name: string, { uid }: Pick<Holder, "uid">): string {
  const [catalogue, column] = catalogues[kind];
  return `insert into ${heldTable} as held values ('${kind}', ${literal(name)},
  (select oid from pg_catalog.${catalogue} where ${column} = ${literal(name)}), ${literal(uid)}, -1)
on conflict (kind, name) do update set id = excluded.id, holder = excluded.holder,
  revision = case when held.holder = excluded.holder then held.revision else -1 end;`;
}

export function forgetText(kind: HeldKind, name: string, { uid }: Pick<Holder, "uid">): string {
  return `delete from ${heldTable} where kind = '${kind}' and name = ${literal(name)} and holder = ${literal(uid)};`;
}

/** Whether what has the name belongs to the holder. */
export async function isHeldBy(sql: Sql, kind: HeldKind, name: string, { uid }: Pick<Holder, "uid">): Promise<boolean> {
  const [catalogue, column] = catalogues[kind];
  const found = await runInner(
    sql,
    `select 1 from ${heldTable} h join pg_catalog.${catalogue} c on c.oid = coalesce(h.id, c.oid) and c.${column} = h.name
     where h.kind = '${kind}' and h.name = ${literal(name)} and h.holder = ${literal(uid)}`,
  );
  return found !== "";
}
