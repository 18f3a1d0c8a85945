/** Real PostgreSQL: logins of bindings, their rights, their rotation, and what is left of them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { instanceOf, PostgresPlayground } from "./playground.ts";

const name = "shop";
const limitMs = 60_000;

let playground: PostgresPlayground;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
  await playground.create({
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name },
    spec: { version: "15", instances: 1, storage: { size: "1Gi" } },
  });
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function bind(binding: string, spec: object = {}): Promise<void> {
  const metadata = { name: binding };
  const whole = { instance: instanceOf(name), ...spec };
  await playground.apply({ apiVersion: "data.setpoint.dev/v1", kind: "ServiceBinding", metadata, spec: whole });
}

async function secretOf(binding: string): Promise<Readonly<Record<string, string>>> {
  const { data } = JSON.parse(await playground.kubectl.ok(`get secret ${binding} -o json`)) as {
    readonly data: Readonly<Record<string, string>>;
  };
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}

/** With the address of the Secret, as an application has it. */
async function as(uri: string, statement: string): Promise<string> {
  const { code, stdout, stderr } = await playground.kubectl.run(`exec ${name}-1 -c postgres --`, [
    "psql",
    uri,
    "-Atqc",
    statement,
  ]);
  return code === 0 ? stdout.trim() : stderr.trim();
}

async function usersOf(): Promise<string> {
  return playground.sqlIn(`${name}-1`, "app", "select count(*) from pg_roles where rolcanlogin and rolname like 'sb%'");
}

test("each binding has a login with its rights, rotation keeps what it made, and deletion drops it", async () => {
  await bind("writer");
  await bind("reader", { rights: { app: "readonly" } });
  const writer = await eventually(() => secretOf("writer"), limitMs);
  const reader = await eventually(() => secretOf("reader"), limitMs);
  expect(writer).toMatchObject({ type: "postgres", host: `${name}-rw.default.svc`, port: "5432", database: "app" });

  expect(await as(writer["uri"] ?? "", "create table basket (n int); insert into basket values (1)")).toBe("");
  expect(await as(reader["uri"] ?? "", "select n from basket")).toBe("1");
  expect(await as(reader["uri"] ?? "", "insert into basket values (2)")).toContain(
    "permission denied for table basket",
  );
  expect(await as(reader["uri"] ?? "", "create table mine (n int)")).toContain("permission denied for schema public");

  await bind("writer", { rotation: { overlap: "1s", request: "now" } });
  const rotated = await eventually(async () => {
    const secret = await secretOf("writer");
    if (secret["username"] === writer["username"]) throw new Error("The login has not been rotated");
    return secret;
  }, limitMs);
  expect(await as(rotated["uri"] ?? "", "insert into basket values (2); select count(*) from basket")).toBe("2");
  await eventually(async () => {
    const answer = await as(writer["uri"] ?? "", "select 1");
    if (!/password authentication failed|not permitted to log in/.test(answer)) throw new Error(`Still in: ${answer}`);
  }, limitMs);

  await playground.kubectl.ok("delete servicebindings.data.setpoint.dev writer reader --timeout=60s");
  expect((await usersOf()).trim()).toBe("0");
  expect(
    await playground.sqlIn(`${name}-1`, "app", "select tableowner from pg_tables where tablename = 'basket'"),
  ).toBe("app\n");
});

test("a right that is none is refused in the binding, with what is expected", async () => {
  await bind("wrong", { rights: { app: "everything" } });
  await eventually(async () => {
    const message = await playground.kubectl.ok(
      "get servicebindings.data.setpoint.dev wrong -o jsonpath={.status.conditions[*].message}",
    );
    if (!message.includes("expected owner, readwrite or readonly")) throw new Error(`It says: ${message}`);
  }, limitMs);
  await playground.kubectl.ok("delete servicebindings.data.setpoint.dev wrong --timeout=60s");
});
