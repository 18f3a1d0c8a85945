/** Real PostgreSQL: databases as resources, and what a failover or a killed operator leaves half made. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { InnerWorld, limitMs } from "./inner-world.ts";
import { PostgresPlayground } from "./playground.ts";

const cluster = "inner";

let playground: PostgresPlayground;
let world: InnerWorld;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
  world = await worldWith(cluster, { instances: 1 });
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function worldWith(name: string, spec: object): Promise<InnerWorld> {
  await playground.create({
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name },
    // A machine that is slow is no reason for another primary.
    spec: { version: "15", storage: { size: "1Gi" }, failover: { silenceSeconds: 60 }, ...spec },
  });
  return new InnerWorld(playground, name);
}

async function owners(like: string): Promise<string> {
  return world.sql(
    `select string_agg(datname || '=' || pg_get_userbyid(datdba), ' ' order by datname) from pg_database where datname like '${like}'`,
  );
}

const contents = (database: string): Promise<string> =>
  world.sql(
    `select (select string_agg(nspname || '=' || pg_get_userbyid(nspowner), ' ') from pg_namespace where nspname = 'sales'),
            (select string_agg(extname || '=' || extversion, ' ') from pg_extension where extname = 'pg_trgm')`,
    database,
  );

test("a database is created when its owner exists, changed, repaired, and dropped when nobody uses it", async () => {
  const spec = { owner: "keeper", schemas: [{ name: "sales" }], extensions: [{ name: "pg_trgm", version: "1.5" }] };
  await world.apply("PostgresDatabase", "stock", spec);
  await world.condition("postgresdatabase", "stock", "Ready", "False", /owners that do not exist yet: keeper/);
  await world.apply("PostgresRole", "keeper", { password: {} });
  await world.condition("postgresdatabase", "stock", "Ready", "True");
  expect(await owners("stock")).toBe("stock=keeper");
  expect(await contents("stock")).toBe("sales=keeper|pg_trgm=1.5");

  const extensions = [{ name: "pg_trgm", version: "1.6" }];
  await world.apply("PostgresDatabase", "stock", { ...spec, extensions, connectionLimit: 9 });
  await world.condition("postgresdatabase", "stock", "Ready", "True");
  expect(await contents("stock")).toBe("sales=keeper|pg_trgm=1.6");

  await world.sql("alter database stock owner to postgres");
  await world.sql("drop schema sales", "stock");
  await eventually(async () => {
    expect(await owners("stock")).toBe("stock=keeper");
    expect(await contents("stock")).toBe("sales=keeper|pg_trgm=1.6");
  }, limitMs);

  await world.apply("PostgresDatabase", "stock", { ...spec, extensions: [{ name: "pg_trgm", version: "9.9" }] });
  await world.condition("postgresdatabase", "stock", "Ready", "False", /no way from 1\.6 to 9\.9; the image has/);
  await world.apply("PostgresDatabase", "stock", {
    ...spec,
    extensions: [{ name: "pg_trgm", ensure: "absent" }],
    schemas: [{ name: "sales", ensure: "absent" }],
    reclaimPolicy: "delete",
  });
  await world.condition("postgresdatabase", "stock", "Ready", "True");
  expect(await contents("stock")).toBe("|");
});

test("the sessions that hold a drop back are named, and ended when the spec says so", async () => {
  const { uri = "" } = await world.secret("keeper");
  const client = world.as(`${uri.replace("/app?", "/stock?")}&application_name=till`, "select pg_sleep(600)");
  await eventually(async () => {
    expect(await world.sql("select count(*) from pg_stat_activity where datname = 'stock'")).toBe("1");
  }, limitMs);
  await playground.kubectl.ok("delete postgresdatabase stock --wait=false");
  const held = /database "stock" is in use: session \d+ of user "keeper", application "till"/;
  await world.condition("postgresdatabase", "stock", "Terminating", "True", held);
  expect(await owners("stock")).toBe("stock=keeper");
  await playground.kubectl.ok("patch postgresdatabase stock --type=merge -p", [
    JSON.stringify({ spec: { endSessions: true } }),
  ]);
  await playground.kubectl.ok("wait --for=delete postgresdatabase/stock --timeout=60s");
  expect(await owners("stock")).toBe("");
  await client;
});

test("a database that exists is taken over only when asked, with what cannot change", async () => {
  await world.sql("create database legacy template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'");
  await world.apply("PostgresDatabase", "legacy", { owner: "keeper" });
  await world.condition("postgresdatabase", "legacy", "Ready", "False", /exists already; set spec\.adopt: true/);
  await world.apply("PostgresDatabase", "legacy", { owner: "keeper", adopt: true });
  await world.condition("postgresdatabase", "legacy", "Ready", "False", /spec\.encoding: the database has SQL_ASCII/);
  await playground.kubectl.ok("delete postgresdatabase legacy --timeout=60s");
  await world.apply("PostgresDatabase", "legacy", { owner: "keeper", adopt: true, encoding: "SQL_ASCII" });
  await world.condition("postgresdatabase", "legacy", "Ready", "True");
  expect(await owners("legacy")).toBe("legacy=keeper");
  await expect(
    world.apply("PostgresDatabase", "legacy", { owner: "keeper", adopt: true, encoding: "UTF8" }),
  ).rejects.toThrow(/spec\.encoding/);
});

test("what an interrupted creation has left is finished", async () => {
  await world.apply("PostgresDatabase", "halfway", { owner: "late", schemas: [{ name: "sales" }] });
  await world.condition("postgresdatabase", "halfway", "Ready", "False", /owners that do not exist yet: late/);
  const uid = await playground.kubectl.ok("get postgresdatabase halfway -o jsonpath={.metadata.uid}");
  await world.sql(`insert into setpoint.held_objects values ('database', 'halfway', null, '${uid}', -1)`);
  await world.sql("create database halfway");
  await world.apply("PostgresRole", "late", {});
  await world.condition("postgresdatabase", "halfway", "Ready", "True");
  expect(await owners("halfway")).toBe("halfway=late");
  expect(await contents("halfway")).toBe("sales=late|");
  expect(await world.sql("select id is not null from setpoint.held_objects where name = 'halfway'")).toBe("t");
});

const numbers = [1, 2, 3, 4, 5, 6];

async function applyMany(to: InnerWorld, prefix: string): Promise<void> {
  for (const number of numbers) {
    const owner = `${prefix}-owner-${number}`;
    await to.apply("PostgresRole", owner, { password: {} });
    await to.apply("PostgresDatabase", `${prefix}-${number}`, { owner, extensions: [{ name: "pg_trgm" }] });
  }
}

async function allReady(of: InnerWorld, prefix: string): Promise<void> {
  for (const number of numbers) {
    await of.condition("postgresdatabase", `${prefix}-${number}`, "Ready", "True");
    await of.condition("postgresrole", `${prefix}-owner-${number}`, "Ready", "True");
    const { uri = "" } = await of.secret(`${prefix}-owner-${number}`);
    const answer = await of.as(uri.replace("/app?", `/${prefix}-${number}?`), "select current_database()");
    expect(answer).toBe(`${prefix}-${number}`);
  }
}

test("an operator that is killed again and again finishes what it began", async () => {
  const applied = applyMany(world, "killed");
  await world.killOperator();
  await applied;
  await world.killOperator();
  await eventually(async () => {
    expect(Number(await world.sql("select count(*) from pg_database where datname like 'killed-_'"))).toBeGreaterThan(
      0,
    );
  }, limitMs);
  await world.killOperator();
  await allReady(world, "killed");
});

test("a failover in the middle loses nothing", async () => {
  const moved = await worldWith("moved", { instances: 3, synchronous: { number: 1 } });
  await applyMany(moved, "moved");
  await moved.crash();
  await allReady(moved, "moved");
});
