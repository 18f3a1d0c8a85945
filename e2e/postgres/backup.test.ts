/** Real PostgreSQL: a base backup to a store, restored into a new cluster and in place, row by row. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { instanceOf, PostgresPlayground } from "./playground.ts";

let playground: PostgresPlayground;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function primaryOf(name: string): Promise<string> {
  return (await playground.get(name)).status?.primary ?? "";
}

async function sql(name: string, statement: string): Promise<string> {
  return playground.sqlIn(await primaryOf(name), "app", statement);
}

const rows = "select string_agg(n || ':' || text, ',' order by n) from note";
const timeline = "select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)";

test("a cluster is backed up, restored into a new one and in place, and refused when it does not fit", async () => {
  const name = "books";
  const cluster = {
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name },
    spec: { version: "15", instances: 2, storage: { size: "1Gi" }, archive: { store: "vault" } },
  };
  await playground.createStore("vault");
  await playground.create(cluster);
  await sql(
    name,
    "create table note (n int primary key, text text); insert into note select n, repeat(md5(n::text), 9) from generate_series(1, 500) n",
  );
  const first = await sql(name, rows);

  const backup = await playground.ended("Backup", "first", { instance: instanceOf(name), store: "vault" });
  expect(backup, JSON.stringify(backup)).toMatchObject({ phase: "Succeeded", engineVersion: "15" });
  await sql(name, "insert into note values (1000, 'after the backup'); delete from note where n < 100");
  const second = await sql(name, rows);

  const copied = await playground.ended("Restore", "copy", {
    instance: instanceOf(name),
    source: { backup: "first" },
    newInstance: { name: "books-copy" },
  });
  expect(copied, JSON.stringify(copied)).toMatchObject({ phase: "Succeeded" });
  await playground.settled("books-copy");
  expect(await sql("books-copy", rows)).toBe(first);
  expect(await sql(name, rows)).toBe(second);
  // A timeline of its own: its log is never taken for that of the original.
  expect(await sql("books-copy", timeline)).not.toBe(await sql(name, timeline));

  const inPlace = await playground.ended("Restore", "in-place", {
    instance: instanceOf(name),
    source: { backup: "first" },
    inPlace: {},
  });
  expect(inPlace, JSON.stringify(inPlace)).toMatchObject({ phase: "Succeeded" });
  await playground.settled(name);
  expect(await sql(name, rows)).toBe(first);
  console.log(`restored in place within ${inPlace.recoverySeconds} s`);

  // Once more: each time on a timeline that the archive does not have, so that archiving goes on.
  const again = await playground.ended("Restore", "again", {
    instance: instanceOf(name),
    source: { backup: "first" },
    inPlace: {},
  });
  expect(again, JSON.stringify(again)).toMatchObject({ phase: "Succeeded" });
  await playground.settled(name);
  expect(await sql(name, rows)).toBe(first);
  await sql(name, "select pg_switch_wal()");
  await expect
    .poll(async () => (await playground.get(name)).status?.archive, { timeout: 60_000 })
    .toMatchObject({ lastArchived: { name: expect.stringMatching(/^00000003/) } });
  expect((await playground.get(name)).status?.archive).not.toHaveProperty("failing");

  await playground.create({
    ...cluster,
    metadata: { name: "newer" },
    spec: { ...cluster.spec, version: "17", instances: 1 },
  });
  await sql("newer", "create table kept (n int)");
  const refused = await playground.ended("Restore", "refused", {
    instance: instanceOf("newer"),
    source: { backup: "first" },
    inPlace: {},
  });
  expect(refused).toMatchObject({ phase: "Failed", message: expect.stringContaining("PostgreSQL 15") });
  expect(await sql("newer", "select count(*) from kept")).toBe("0\n");
});
