/** Real PostgreSQL: a new cluster takes all files of a server that runs, and goes on by itself. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { onPlainServer, startPlainServer } from "./plain-server.ts";
import { PostgresPlayground } from "./playground.ts";

const limitMs = 120_000;
const source = { name: "source", superuser: "boss", password: "it's a \\ sec:ret" };

let playground: PostgresPlayground;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
  await startPlainServer(playground, source);
  await onSource("postgres", "create role keeper login password 'kept'; create role other superuser login");
  await onSource("postgres", "create database shop owner keeper");
  await onSource(
    "shop",
    "set role keeper; create table items as select n, md5(n::text) as what from generate_series(1, 50000) n",
  );
});
afterAll(() => playground?.[Symbol.asyncDispose]());

function onSource(database: string, statement: string): Promise<string> {
  return onPlainServer(playground, source, database, statement);
}

function cluster(name: string, spec: object): Parameters<PostgresPlayground["create"]>[0] {
  return {
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name },
    // A machine that is slow is no reason for another primary.
    spec: { version: "15", instances: 1, storage: { size: "1Gi" }, failover: { silenceSeconds: 60 }, ...spec },
  };
}

const boss = { host: "source", user: "boss", sslMode: "disable", password: { name: "boss" } };
const rows = "select count(*) || md5(string_agg(t::text, ',' order by n)) from items t";

async function waitsFor(name: string, why: RegExp): Promise<void> {
  await eventually(async () => {
    const { status } = await playground.get(name);
    expect(status?.conditions?.find(({ type }) => type === "Available")?.message).toMatch(why);
  }, limitMs);
}

test("a cluster copies a server that runs, row by row, and goes on with its own roles on its own timeline", async () => {
  await playground.create(cluster("copied", { instances: 2, bootstrap: { baseBackup: { from: boss } } }));
  const expected = await onSource("shop", rows);
  for (const instance of ["copied-1", "copied-2"])
    expect(await playground.sqlIn(instance, "shop", rows)).toBe(expected);
  const timeline = "select timeline_id > 1 from pg_control_checkpoint()";
  expect(await playground.sqlIn("copied-1", "postgres", `checkpoint; ${timeline}`)).toMatch(/t\n$/);
  expect(
    await playground.sqlIn("copied-1", "postgres", "select rolname from pg_roles where rolsuper and rolcanlogin"),
  ).toBe("postgres\n");
  expect(
    await playground.sqlIn(
      "copied-1",
      "postgres",
      "select datname, pg_get_userbyid(datdba) from pg_database where datname = 'app'",
    ),
  ).toBe("app|app\n");
  await playground.sqlIn("copied-1", "shop", "insert into items values (0, 'only here')");
  await onSource("shop", "insert into items values (-1, 'only there')");
  expect(await playground.sqlIn("copied-1", "shop", "select n from items where n < 1")).toBe("0\n");
  // Its own certificates and its own password.
  await playground.startWriter("copied", "15");
  expect((await playground.finish("copied")).missing).toEqual([]);
});

test("another major version, a missing Secret and a refused login are named with their fields, and it goes on", async () => {
  const password = (text: string): object => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "late" },
    stringData: { password: text },
  });
  const from = { ...boss, password: { name: "late" } };
  await playground.apply(cluster("repaired", { bootstrap: { baseBackup: { from } } }));
  await waitsFor("repaired", /spec\.bootstrap\.baseBackup\.from\.password: there is no Secret "late"/);
  await playground.apply(password("not this one"));
  await waitsFor("repaired", /spec\.bootstrap\.baseBackup\.from\.user: source:5432 refuses the login of "boss"/);
  await playground.apply(password(source.password));
  await playground.settled("repaired");
  const expected = await onSource("shop", "select count(*) from items where n > 0");
  expect(await playground.sqlIn("repaired-1", "shop", "select count(*) from items where n > 0")).toBe(expected);

  await playground.apply(cluster("newer", { version: "17", bootstrap: { baseBackup: { from: boss } } }));
  await waitsFor("newer", /spec\.version: 17, and source:5432 runs PostgreSQL 15/);
  await playground.remove("newer");
});

test("a source without a login, and a copy that comes late are refused when they are written", async () => {
  const refused = async (name: string, bootstrap: object): Promise<string> => {
    const input = JSON.stringify(cluster(name, { bootstrap }));
    return (await playground.kubectl.run("apply -f -", [], { input })).stderr;
  };
  const { password: _, ...open } = boss;
  expect(await refused("refused", { baseBackup: { from: open } })).toMatch(/expected password, certificate, or both/);
  expect(await refused("refused", {})).toMatch(/expected one of import and baseBackup/);
  expect(await refused("repaired", { baseBackup: { from: { ...boss, host: "elsewhere" } } })).toMatch(
    /the cluster has its data: import or copy into a new PostgresCluster/,
  );
});
