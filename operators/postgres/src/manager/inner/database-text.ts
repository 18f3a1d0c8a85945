/** The statements about one database; pure. Each may run any number of times. */
import type { DatabaseDefinition, WantedExtension, WantedSchema } from "../../instance/database-protocol.ts";
import { identifier, literal } from "../sql-text.ts";
import { heldText } from "./held-objects.ts";

/** One row with what of DatabaseFacts every database shows, as JSON. */
export function databaseFactsText(name: string): string {
  return `select json_build_object(
  'holder', ${heldText("database", "d.datname", "d.oid")},
  'owner', pg_get_userbyid(d.datdba), 'connectionLimit', greatest(d.datconnlimit, -1),
  'encoding', pg_encoding_to_char(d.encoding), 'locale', d.datcollate, 'isTemplate', d.datistemplate,
  'isInvalid', d.datconnlimit = -2)
from pg_database d where d.datname = ${literal(name)};`;
}

/** One row about schemas and extensions, asked in the database itself. */
export function contentsText(extensions: readonly WantedExtension[]): string {
  const names = extensions.map(({ name }) => literal(name)).join(", ");
  const versions = extensions.map(({ version }) => (version === undefined ? "null" : literal(version))).join(", ");
  return `select json_build_object(
  'schemas', coalesce((select json_object_agg(nspname, pg_get_userbyid(nspowner)) from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema'), '{}'),
  'extensions', coalesce((select json_object_agg(w.name, json_build_object(
      'version', e.extversion, 'schema', n.nspname,
      'available', coalesce((select json_agg(v.version order by v.version) from pg_available_extension_versions v
        where v.name = w.name), '[]'),
      'hasPath', w.version is null or e.extversion is null or e.extversion = w.version or exists (
        select from pg_extension_update_paths(w.name) p
        where p.source = e.extversion and p.target = w.version and p.path is not null)))
    from unnest(array[${names}]::text[], array[${versions}]::text[]) w(name, version)
    left join pg_extension e on e.extname = w.name left join pg_namespace n on n.oid = e.extnamespace), '{}'));`;
}

/** No part of a transaction. */
export function createDatabaseText({ name, owner, connectionLimit, creation }: DatabaseDefinition): string {
  const { encoding, template, locale } = creation;
  const options = [
    `owner ${identifier(owner)}`,
    `encoding ${literal(encoding)}`,
    `template ${identifier(template)}`,
    ...(locale === undefined ? [] : [`lc_collate ${literal(locale)}`, `lc_ctype ${literal(locale)}`]),
    `connection limit ${connectionLimit}`,
  ];
  return `create database ${identifier(name)} with ${options.join(" ")};`;
}

export function alterDatabaseText({ name, owner, connectionLimit }: DatabaseDefinition): string {
  return `alter database ${identifier(name)} owner to ${identifier(owner)};
alter database ${identifier(name)} with connection limit ${connectionLimit};`;
}

/** Schemas first, because extensions may be in them; what goes, goes last and in the other order. */
export function contentsChangeText({ schemas, extensions }: DatabaseDefinition): string {
  return [
    "begin;",
    ...schemas.filter(({ isPresent }) => isPresent).map(schemaText),
    ...extensions.filter(({ isPresent }) => isPresent).map(extensionText),
    ...extensions
      .filter(({ isPresent }) => !isPresent)
      .map(({ name }) => `drop extension if exists ${identifier(name)};`),
    ...schemas.filter(({ isPresent }) => !isPresent).map(({ name }) => `drop schema if exists ${identifier(name)};`),
    "commit;",
  ].join("\n");
}

function schemaText({ name, owner }: WantedSchema): string {
  return `create schema if not exists ${identifier(name)};
alter schema ${identifier(name)} owner to ${identifier(owner)};`;
}

/** The session's search path names no schema of users, so an extension gets one explicitly. */
function extensionText({ name, version, schema }: WantedExtension): string {
  const [extension, ofVersion] = [identifier(name), version === undefined ? "" : ` version ${literal(version)}`];
  const inSchema = (chosen: string): string => ` schema ${identifier(chosen)}`;
  const created =
    schema === undefined
      ? createExtension(name, ofVersion)
      : `create extension if not exists ${extension}${inSchema(schema)}${ofVersion};`;
  return [
    created,
    ...(version === undefined ? [] : [`alter extension ${extension} update to ${literal(version)};`]),
    ...(schema === undefined ? [] : [moveText(name, schema)]),
  ].join("\n");
}

/** An extension that names its own schema refuses another one. */
function createExtension(name: string, ofVersion: string): string {
  return `do $extension$ begin
  if not exists (select from pg_extension where extname = ${literal(name)}) then
    if exists (select from pg_available_extension_versions where name = ${literal(name)} and schema is not null)
    then create extension ${identifier(name)}${ofVersion};
    else create extension ${identifier(name)} schema public${ofVersion}; end if;
  end if;
end $extension$;`;
}

/** PostgreSQL refuses it for extensions that cannot move. */
function moveText(name: string, schema: string): string {
  return `do $move$ begin
  if exists (select from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = ${literal(name)} and n.nspname <> ${literal(schema)})
  then alter extension ${identifier(name)} set schema ${identifier(schema)}; end if;
end $move$;`;
}

/** What PostgreSQL would refuse a drop for, one sentence a row. */
export function holdersText(name: string, endsSessions: boolean): string {
  const database = literal(name);
  const sessions = `select format('session %s of user "%s", application "%s", from %s, %s since %s', pid, usename,
  application_name, coalesce(host(client_addr), 'its pod'), coalesce(state, 'active'), to_char(state_change at time zone 'UTC', 'HH24:MI:SS'))
from pg_stat_activity where datname = ${database} and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  return [
    ...(endsSessions ? [] : [sessions]),
    `select format('replication slot "%s"', slot_name) from pg_replication_slots where database = ${database}`,
    `select format('prepared transaction "%s" of user "%s"', gid, owner) from pg_prepared_xacts where database = ${database}`,
    `select format('subscription "%s"', subname) from pg_subscription s join pg_database d on d.oid = s.subdbid
where d.datname = ${database}`,
  ].join("\nunion all ");
}
