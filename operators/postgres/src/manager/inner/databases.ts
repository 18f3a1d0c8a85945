/** Databases of PostgresDatabases in the server of this pod. */
import type {
  DatabaseAnswer,
  DatabaseChange,
  DatabaseFacts,
  DatabaseQuestion,
  DatabaseRemoval,
} from "../../instance/database-protocol.ts";
import type { RemovalAnswer } from "../../instance/inner-protocol.ts";
import type { Sql } from "../sql.ts";
import { identifier, literal } from "../sql-text.ts";
import {
  alterDatabaseText,
  contentsChangeText,
  contentsText,
  createDatabaseText,
  databaseFactsText,
  holdersText,
} from "./database-text.ts";
import { checkText, claimText, ensureHeldTable, forgetText, isHeldBy, lockText, recordText } from "./held-objects.ts";
import { runInner } from "./inner-sql.ts";
import { missingRoles } from "./roles.ts";

/** A long list helps nobody. */
const holdersShown = 5;

export async function answerDatabase(sql: Sql, { database }: DatabaseQuestion): Promise<DatabaseAnswer> {
  await ensureHeldTable(sql);
  const owners = [database.owner, ...database.schemas.map(({ owner }) => owner)];
  return {
    database: await factsOf(sql, database),
    missingRoles: await missingRoles(sql, [...new Set(owners)]),
    hasTemplate: await exists(sql, database.creation.template),
  };
}

async function factsOf(sql: Sql, { name, extensions }: DatabaseQuestion["database"]): Promise<DatabaseFacts | null> {
  const row = await runInner(sql, databaseFactsText(name));
  if (row === "") return null;
  const shown = JSON.parse(row) as Omit<DatabaseFacts, "schemas" | "extensions">;
  if (shown.isInvalid) return { ...shown, schemas: {}, extensions: {} };
  const contents = JSON.parse(await runInner(sql, contentsText(extensions), name)) as Pick<
    DatabaseFacts,
    "schemas" | "extensions"
  >;
  return { ...shown, ...contents };
}

async function exists(sql: Sql, database: string): Promise<boolean> {
  return (await runInner(sql, `select 1 from pg_database where datname = ${literal(database)}`)) !== "";
}

/** `create database` is no part of a transaction: the record of whom it will belong to comes before it. */
export async function changeDatabase(sql: Sql, { holder, database }: DatabaseChange): Promise<object> {
  await ensureHeldTable(sql);
  const { name } = database;
  const claim = [
    "begin;",
    lockText,
    checkText("database", name, holder),
    claimText("database", name, holder),
    "commit;",
  ];
  await runInner(sql, claim.join("\n"));
  if (!(await exists(sql, name))) {
    await runInner(sql, createDatabaseText(database));
    await runInner(sql, claimText("database", name, holder));
  }
  await runInner(sql, alterDatabaseText(database));
  await runInner(sql, contentsChangeText(database), name);
  await runInner(sql, recordText("database", name, holder));
  return {};
}

export async function removeDatabase(
  sql: Sql,
  { holder, name, endsSessions, isRelease }: DatabaseRemoval,
): Promise<RemovalAnswer> {
  await ensureHeldTable(sql);
  if (!isRelease && (await isHeldBy(sql, "database", name, holder))) {
    const heldBack = (await runInner(sql, holdersText(name, endsSessions))).split("\n").filter((row) => row !== "");
    if (heldBack.length > holdersShown)
      return { heldBack: [...heldBack.slice(0, holdersShown), `${heldBack.length - holdersShown} more`] };
    if (heldBack.length > 0) return { heldBack };
    await runInner(sql, `drop database ${identifier(name)}${endsSessions ? " with (force)" : ""};`);
  }
  await runInner(sql, forgetText("database", name, holder));
  return { heldBack: [] };
}
