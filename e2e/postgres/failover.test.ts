/**
 * Real PostgreSQL under a writer: the primary's process is killed, its pod is deleted, a user asks for
 * another primary, and settings change. No acknowledged write may be lost; all instances agree at the end.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Manifest, PostgresPlayground } from "./playground.ts";

function cluster(name: string, version: string, spec: object = {}): Manifest {
  return {
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name },
    spec: { version, storage: { size: "1Gi" }, synchronous: { number: 1 }, ...spec },
  };
}

function setParameters(name: string, parameters: Readonly<Record<string, string>>): Promise<string> {
  const patch = JSON.stringify({ spec: { parameters } });
  return playground.kubectl.ok(`patch postgrescluster ${name} --type=merge -p`, [patch]);
}

async function acceptance(name: string): Promise<object | undefined> {
  return (await playground.get(name)).status?.conditions?.find(({ type }) => type === "Accepted");
}

let playground: PostgresPlayground;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

/** What each instance has, asked on the instance itself. */
async function contents(name: string): Promise<readonly string[]> {
  const query =
    "select count(*), sum(n), (select count(*) from pg_settings where name = 'work_mem' and setting = '8192' or name = 'max_connections' and setting = '120') from ledger";
  const instances = [1, 2, 3].map((number) => `${name}-${number}`);
  return Promise.all(instances.map((instance) => playground.sqlIn(instance, "app", query)));
}

test.each(["15", "17"])(
  "PostgreSQL %s changes its primary in four ways and loses no acknowledged write",
  async (version) => {
    const name = `orders-${version}`;
    await playground.create(cluster(name, version));
    await playground.startWriter(name, version);
    const first = (await playground.get(name)).status?.primary ?? "";

    // Its container starts again at once: it goes on as the primary, or another instance was quicker.
    await playground.killProcess(first);
    await playground.restarted(first);
    const second = (await playground.settled(name)).status?.primary ?? "";

    await playground.kubectl.ok(`delete pod ${second} --wait=false`);
    const third = (await playground.settled(name, undefined, second)).status?.primary ?? "";

    const wanted = [1, 2, 3].map((number) => `${name}-${number}`).find((each) => each !== third);
    await playground.kubectl.ok(`annotate postgrescluster ${name} postgres.setpoint.dev/switchover-to=${wanted}`);
    const switched = await playground.settled(name, undefined, third);
    expect(switched.status).toMatchObject({ primary: wanted, lastSwitchover: { from: third, to: wanted } });
    expect(switched.metadata.annotations).not.toHaveProperty("postgres.setpoint.dev/switchover-to");

    await setParameters(name, { work_mem: "a lot" });
    await expect
      .poll(() => acceptance(name), { timeout: 30_000 })
      .toMatchObject({ status: "False", message: expect.stringMatching(/^spec\.parameters\[work_mem\]: /) });
    await setParameters(name, { work_mem: "8MB", max_connections: "120" });
    await expect.poll(() => acceptance(name), { timeout: 30_000 }).toMatchObject({ status: "True" });
    // Replicas restart first, then the primary hands over.
    await playground.settled(name, undefined, wanted);
    expect(await playground.sql(name, "ro", "select pg_is_in_recovery()")).toBe("t\n");

    const { count, missing, pause } = await playground.finish(name);
    console.log(
      `PostgreSQL ${version}: ${count} acknowledged writes, ${missing.length} lost, the longest pause ${pause.toFixed(1)} s`,
    );
    expect(missing).toEqual([]);
    await playground.settled(name);
    await expect.poll(async () => new Set(await contents(name)).size, { timeout: 30_000 }).toBe(1);
    expect((await contents(name))[0]).toMatch(/\|2\n$/);
    await playground.remove(name);
  },
);

test("nobody gets in as the superuser, or without TLS, but over the socket of an instance", async () => {
  const name = "alone";
  await playground.create(cluster(name, "15", { instances: 1, synchronous: undefined }));
  const attempt = (text: string): Promise<string> =>
    playground.kubectl.ok(`exec ${name}-1 -c postgres --`, [
      "sh",
      "-c",
      `psql "${text} connect_timeout=5" -Atc "select 1" 2>&1 || true`,
    ]);
  const host = `host=${name}-rw.default.svc dbname=postgres`;
  expect(await attempt(`${host} user=postgres sslmode=require`)).toMatch(/pg_hba\.conf rejects connection/);
  expect(await attempt(`${host} user=app sslmode=disable`)).toMatch(/no pg_hba\.conf entry|rejects connection/);
  expect(await attempt(`${host} user=streaming_replica sslmode=require`)).toMatch(
    /connection requires a valid client certificate/,
  );
  const log = await playground.kubectl.ok(`logs ${name}-1 -c postgres`);
  const password = Buffer.from(
    await playground.kubectl.ok(`get secret ${name}-app -o jsonpath={.data.password}`),
    "base64",
  );
  expect(password.length).toBeGreaterThan(20);
  expect(log).not.toContain(password.toString());
  await playground.remove(name);
});

test.each([
  [{ instances: 12 }, /spec\.instances: .*less than or equal to 9/],
  [{ version: "9.6" }, /spec\.version: Unsupported value: "9\.6"/],
  [{ storage: { size: "much" } }, /spec\.storage\.size/],
  [{ database: { owner: "postgres" } }, /spec\.database\.owner: .*reserved names/],
  [{ database: { name: "pg_app" } }, /spec\.database\.name: .*reserved names/],
  [{ synchronous: { number: 3 } }, /fewer replicas than instances can be synchronous/],
])("a spec with %j is refused with the field", async (spec, message) => {
  const answer = await playground.kubectl.run("apply -f -", [], {
    input: JSON.stringify(cluster("refused", "15", spec)),
  });
  expect(answer.code).not.toBe(0);
  expect(answer.stderr).toMatch(message);
});
