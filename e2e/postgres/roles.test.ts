/** Real PostgreSQL: roles as resources, their passwords, and what becomes of them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { InnerWorld, limitMs } from "./inner-world.ts";
import { PostgresPlayground } from "./playground.ts";

const cluster = "inner";
const passwordLabel = { "postgres.setpoint.dev/role-password": "true" };

let playground: PostgresPlayground;
let world: InnerWorld;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
  await playground.create({
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name: cluster },
    spec: { version: "15", instances: 1, storage: { size: "1Gi" }, parameters: { log_statement: "all" } },
  });
  world = new InnerWorld(playground, cluster);
});
afterAll(() => playground?.[Symbol.asyncDispose]());

const attributes = (role: string): Promise<string> =>
  world.sql(
    `select rolcanlogin, rolcreatedb, rolinherit, rolconnlimit, rolvaliduntil is null or rolvaliduntil = 'infinity' from pg_roles where rolname = '${role}'`,
  );

test("a role is created, changed, repaired by the spec, and dropped", async () => {
  await world.apply("PostgresRole", "reporting", { login: false, reclaimPolicy: "delete" });
  const spec = { memberOf: ["reporting"], password: {}, reclaimPolicy: "delete" };
  await world.apply("PostgresRole", "shop", { ...spec, createDatabase: true, connectionLimit: 7 });
  await world.condition("postgresrole", "shop", "Ready", "True");
  expect(await attributes("shop")).toBe("t|t|t|7|t");
  const { uri = "" } = await world.secret("shop");
  expect(await world.as(uri, "select current_user, pg_has_role('reporting', 'member')")).toBe("shop|t");

  await world.apply("PostgresRole", "shop", { ...spec, validUntil: "2100-01-01T00:00:00Z", inherit: false });
  await world.condition("postgresrole", "shop", "Ready", "True");
  expect(await attributes("shop")).toBe("t|f|f|-1|f");

  await world.sql("alter role shop createdb password 'other'; revoke reporting from shop");
  await eventually(async () => {
    expect(await attributes("shop")).toBe("t|f|f|-1|f");
    expect(await world.as(uri, "select pg_has_role('reporting', 'member')")).toBe("t");
  }, limitMs);

  await world.as(uri, "create temp table basket (n int)");
  await world.sql("create table kept (n int); alter table kept owner to shop", "app");
  await playground.kubectl.ok("delete postgresrole shop --wait=false");
  await world.condition("postgresrole", "shop", "Terminating", "True", /owns 1 object in database "app"/);
  await world.sql("drop table kept", "app");
  await playground.kubectl.ok("delete postgresrole shop reporting --timeout=60s --ignore-not-found");
  expect(await attributes("shop")).toBe("");
});

test("a role that exists is taken over only when asked, and stays when it is retained", async () => {
  await world.sql("create role legacy login connection limit 3");
  await world.apply("PostgresRole", "legacy", {});
  await world.condition("postgresrole", "legacy", "Ready", "False", /exists already; set spec\.adopt: true/);
  expect(await attributes("legacy")).toBe("t|f|t|3|t");
  await world.apply("PostgresRole", "legacy", { adopt: true });
  await world.condition("postgresrole", "legacy", "Ready", "True");
  expect(await attributes("legacy")).toBe("t|f|t|-1|t");
  await playground.kubectl.ok("delete postgresrole legacy --timeout=60s");
  expect(await attributes("legacy")).toBe("t|f|t|-1|t");
  expect(await world.sql("select count(*) from setpoint.held_objects where name = 'legacy'")).toBe("0");
});

test("drift is reported where the spec says so, and a password follows its Secret all the same", async () => {
  const secret = (password: string): object => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "given", labels: passwordLabel },
    stringData: { password },
  });
  const { metadata, ...unlabelled } = secret("first-password") as { metadata: object };
  await playground.apply({ ...unlabelled, metadata: { ...metadata, labels: {} } });
  await world.apply("PostgresRole", "reader", { drift: "report", password: { source: "given", secretName: "given" } });
  await world.condition("postgresrole", "reader", "Ready", "False", /kubectl label secret given/);
  await playground.apply(secret("first-password"));
  await world.condition("postgresrole", "reader", "Ready", "True");
  const uri = (password: string): string =>
    `postgresql://reader:${password}@${cluster}-rw.default.svc/app?sslmode=require`;
  expect(await world.as(uri("first-password"), "select 1")).toBe("1");

  await world.sql("alter role reader createdb");
  await world.condition("postgresrole", "reader", "InSync", "False", /createDatabase is true, expected false/);
  await playground.apply(secret("second-password"));
  await eventually(async () => expect(await world.as(uri("second-password"), "select 1")).toBe("1"), limitMs);
  expect(await world.as(uri("first-password"), "select 1")).toContain("password authentication failed");
  expect(await attributes("reader")).toBe("t|t|t|-1|t");
});

test("alternating logins: the login before works until its overlap ends", async () => {
  const spec = (request: string, overlap: string): object => ({
    reclaimPolicy: "delete",
    password: { logins: "alternating", rotation: { request, overlap } },
  });
  await world.apply("PostgresRole", "turns", spec("one", "1h"));
  await world.condition("postgresrole", "turns", "Ready", "True");
  const first = await world.secret("turns");
  expect(await world.as(first["uri"] ?? "", "select session_user, current_user")).toBe("turns_a|turns");

  await world.apply("PostgresRole", "turns", spec("two", "1h"));
  await world.condition("postgresrole", "turns", "Rotating", "True", /login turns_a works until/);
  const second = await world.secret("turns");
  expect(await world.as(second["uri"] ?? "", "select session_user, current_user")).toBe("turns_b|turns");
  expect(await world.as(first["uri"] ?? "", "select 1")).toBe("1");

  await world.apply("PostgresRole", "turns", spec("two", "1s"));
  await eventually(
    async () => expect(await world.as(first["uri"] ?? "", "select 1")).toMatch(/authentication failed|not permitted/),
    limitMs,
  );
  expect(await world.as(second["uri"] ?? "", "select 1")).toBe("1");
  await playground.kubectl.ok("delete postgresrole turns --timeout=60s");
  expect(await world.sql("select count(*) from pg_roles where rolname like 'turns%'")).toBe("0");
});

test("a rotation in place changes the role before the Secret, and no password is in the log", async () => {
  await world.apply("PostgresRole", "single", { password: {} });
  await world.condition("postgresrole", "single", "Ready", "True");
  const before = await world.secret("single");
  await world.apply("PostgresRole", "single", { password: { rotation: { request: "now" } } });
  const after = await eventually(async () => {
    const secret = await world.secret("single");
    expect(secret["password"]).not.toBe(before["password"]);
    return secret;
  }, limitMs);
  expect(await world.as(after["uri"] ?? "", "select 1")).toBe("1");
  expect(await world.as(before["uri"] ?? "", "select 1")).toContain("password authentication failed");
  const log = await playground.kubectl.ok(`logs ${cluster}-1 -c postgres`);
  const operator = await playground.kubectl.ok("logs -n setpoint-system deployment/postgres-operator");
  for (const password of [before["password"] ?? "none", after["password"] ?? "none"]) {
    expect(log + operator).not.toContain(password);
  }
  expect(log).not.toMatch(/SCRAM-SHA-256\$/);
});

test.each([
  [{ superuser: true }, /spec\.superuser: .*a superuser reads and writes the files/],
  [{ role: "Shop" }, /spec\.role/],
  [{ password: { source: "given", logins: "alternating" } }, /a given Secret has one login/],
])("a spec with %j is refused when it is written", async (spec, message) => {
  await expect(world.apply("PostgresRole", "refused", spec)).rejects.toThrow(message);
});

test.each([
  ["creator", { createRole: true }, /spec\.createRole: in PostgreSQL 15/],
  ["files", { memberOf: ["pg_write_server_files"] }, /spec\.memberOf: members of "pg_write_server_files"/],
  ["taken", { role: "app" }, /spec\.role: "app" is the owner of the cluster's database/],
  ["reserved", { role: "pg_monitor" }, /spec\.role: "pg_monitor" belongs to PostgreSQL/],
])("%s: what the cluster cannot allow is in the condition Accepted", async (name, spec, message) => {
  await world.apply("PostgresRole", name, spec);
  await world.condition("postgresrole", name, "Accepted", "False", message);
  await playground.kubectl.ok(`delete postgresrole ${name} --timeout=60s`);
});

test("what cannot be done yet waits, and says for what", async () => {
  await world.apply("PostgresRole", "early", { memberOf: ["later"] });
  await world.condition("postgresrole", "early", "Ready", "False", /do not exist yet: later/);
  await world.apply("PostgresRole", "later", { login: false });
  await world.condition("postgresrole", "early", "Ready", "True");
});
