/**
 * Real PostgreSQL with an archive: a failover in between, and restores to a time, a position, a mark and a
 * transaction, each compared row by row; then a gap.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { instanceOf, PostgresPlayground } from "./playground.ts";

const name = "ledger";
const vault = "vault";
/** The archiver looks at the store twice a minute. */
const archivedMsMax = 120_000;

let playground: PostgresPlayground;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function sql(cluster: string, statement: string): Promise<string> {
  const primary = (await playground.get(cluster)).status?.primary ?? "";
  return (await playground.sqlIn(primary, "app", statement)).trim();
}

const rows = "select string_agg(n || ':' || text, ',' order by n) from note";

/** The log up to now is in the archive when the window ends behind it. */
async function untilArchived(): Promise<void> {
  const position = await sql(name, "select pg_switch_wal()");
  await expect
    .poll(async () => positionOf((await playground.get(name)).status?.archive?.window?.end), { timeout: archivedMsMax })
    .toBeGreaterThanOrEqual(positionOf(position));
}

function positionOf(text = "0/0"): number {
  const [high = "0", low = "0"] = text.split("/");
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

function restoreTo(
  restore: string,
  target: object,
  copy = `${name}-${restore}`,
): Promise<{ phase: string; message?: string }> {
  return playground.ended("Restore", restore, {
    instance: instanceOf(name),
    source: { archive: { store: vault } },
    target,
    newInstance: { name: copy, spec: { instances: 1 } },
  });
}

/** A moment with what the table had then. */
interface Moment {
  readonly target: object;
  readonly rows: string;
}

async function write(
  n: number,
): Promise<{ readonly transaction: string; readonly position: string; readonly time: string }> {
  const transaction = await sql(
    name,
    `insert into note values (${n}, repeat(md5('${n}'), 40)) returning pg_current_xact_id()`,
  );
  const position = await sql(name, "select pg_current_wal_insert_lsn()");
  const time = await sql(name, `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
  return { transaction, position, time };
}

test("each moment since the first backup can be restored, also across a failover, and a gap is named", async () => {
  await playground.createStore(vault);
  await playground.create({
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name },
    spec: { version: "15", instances: 2, storage: { size: "1Gi" }, archive: { store: vault } },
  });
  await sql(name, "create table note (n int primary key, text text)");
  await write(1);
  const backup = await playground.ended("Backup", "base", { instance: instanceOf(name), store: vault });
  expect(backup, JSON.stringify(backup)).toMatchObject({ phase: "Succeeded" });

  const moments: Record<string, Moment> = {};
  const note = async (kind: string, target: object): Promise<void> => {
    moments[kind] = { target, rows: await sql(name, rows) };
  };
  await note("time", { time: (await write(2)).time });
  await write(3);
  await note("transaction", { transaction: (await write(4)).transaction });
  await sql(name, "select pg_create_restore_point('before the failover')");
  await note("name", { name: "before the failover" });
  await write(5);
  await untilArchived();

  const former = (await playground.get(name)).status?.primary ?? "";
  await playground.kubectl.ok(`delete pod ${former} --wait=false`);
  await playground.settled(name, undefined, former);
  await note("position", { position: (await write(6)).position });
  await write(7);
  await untilArchived();
  const { window } = (await playground.get(name)).status?.archive ?? {};
  expect(window?.timeline).toBe(2);
  // No change follows it, and PostgreSQL alone would end with an error.
  await note("end", { position: window?.end });

  for (const [kind, moment] of Object.entries(moments)) {
    const restored = await restoreTo(kind, moment.target);
    expect(restored, JSON.stringify(restored)).toMatchObject({ phase: "Succeeded" });
    await playground.settled(`${name}-${kind}`);
    expect(await sql(`${name}-${kind}`, rows), kind).toBe(moment.rows);
    await playground.kubectl.ok(`delete postgrescluster ${name}-${kind}`);
  }

  const early = await restoreTo("early", { time: "2020-01-01T00:00:00Z" });
  expect(early).toMatchObject({ phase: "Failed", message: expect.stringContaining("outside of what can be restored") });
  const unknown = await restoreTo("unknown", { name: "no such mark" });
  expect(unknown).toMatchObject({ phase: "Failed", message: expect.stringContaining("no such mark") });
  expect(await playground.kubectl.ok("get postgrescluster -o name")).toBe(
    `postgrescluster.postgres.setpoint.dev/${name}\n`,
  );

  await loseSegment();
  await expect
    .poll(async () => (await playground.get(name)).status?.archive?.gaps, { timeout: archivedMsMax })
    .toMatchObject([{ timeline: 2 }]);
});

/** Deletes the first whole segment of the second timeline from the store, after two more were stored. */
async function loseSegment(): Promise<void> {
  for (const n of [8, 9]) {
    await write(n);
    await untilArchived();
  }
  const { primary = "" } = (await playground.get(name)).status ?? {};
  const program = `
    const { readdirSync, rmSync } = require("node:fs");
    const log = readdirSync("/run/setpoint/claim", { recursive: true }).filter((path) => /\\/log\\/00000002[0-9A-F]{16}$/.test(path)).sort();
    rmSync("/run/setpoint/claim/" + log.at(-2), { recursive: true });`;
  await playground.kubectl.ok(`exec ${primary} -c archiver --`, ["node", "-e", program]);
}
