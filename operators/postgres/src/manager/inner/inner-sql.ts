/** Statements about roles and databases: in which session they run, and what is shown of their errors. */
import type { Sql } from "../sql.ts";

/** Longer than this, a change waits for something; the next attempt finds what it has done. */
const deadlineMs = 15_000;

/**
 * Objects of users are never called, and an acknowledged change outlives a failover where commits are
 * synchronous. An error is one line.
 */
const preamble = [
  "\\set VERBOSITY terse",
  "set search_path = pg_catalog;",
  "set client_min_messages = 'warning';",
  "set synchronous_commit = 'on';",
  "",
].join("\n");

/** The rows as lines. Rejects with PostgreSQL's own sentence. */
export async function runInner(sql: Sql, statement: string, database = "postgres"): Promise<string> {
  try {
    return await sql.run(preamble + statement, database, AbortSignal.timeout(deadlineMs));
  } catch (error) {
    throw new Error(sentenceOf(error instanceof Error ? error.message : String(error)), { cause: error });
  }
}

/** `psql:<stdin>:12: ERROR:  role "x" does not exist` without what is about psql. */
export function sentenceOf(line: string): string {
  return line.replace(/^psql:[^:]*:\d+: /, "").replace(/^(ERROR|FATAL):\s+/, "");
}
