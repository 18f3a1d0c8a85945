/** Days after the first on real PostgreSQL: a cluster sleeps and wakes, and no acknowledged write is lost. */
import { instanceMetrics } from "../../operators/postgres/src/instance/instance-metrics.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { PostgresPlayground } from "./playground.ts";

const stepMsMax = 120_000;
const name = "days";

let playground: PostgresPlayground;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
  await playground.create({
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name },
    spec: { version: "17", storage: { size: "1Gi" }, synchronous: { number: 1 } },
  });
  await playground.startWriter(name, "17");
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function change(spec: object): Promise<void> {
  await playground.kubectl.ok(`patch postgrescluster ${name} --type=merge -p`, [JSON.stringify({ spec })]);
}

function reason(type: string): Promise<string> {
  return playground.kubectl.ok(
    `get postgrescluster ${name} -o jsonpath={.status.conditions[?(@.type=="${type}")].reason}`,
  );
}

function pods(): Promise<string> {
  return playground.kubectl.ok(`get pods -l postgres.setpoint.dev/cluster=${name} -o name`);
}

test("a cluster hibernates, keeps its volumes, and wakes with the same primary and all acknowledged writes", async () => {
  const before = (await playground.get(name)).status;
  await change({ hibernated: true });
  await eventually(async () => {
    const { phase } = (await playground.get(name)).status ?? {};
    if (phase !== "Hibernated") throw new Error(`${name} is ${phase}`);
  }, stepMsMax);
  expect(await pods()).toBe("");
  const claims = await playground.kubectl.ok(`get pvc -l postgres.setpoint.dev/cluster=${name} -o name`);
  expect(claims.trim().split("\n").length).toBe(3);
  expect(await reason("Available")).toBe("Hibernated");
  expect(await reason("Degraded")).toBe("Hibernated");
  const events = await playground.kubectl.ok(
    `get events --field-selector involvedObject.name=${name} -o jsonpath={.items[*].reason}`,
  );
  expect(events.split(" ")).toEqual(expect.arrayContaining(["StopInstances", "Hibernated"]));

  await change({ hibernated: false });
  const after = (await playground.settled(name)).status;
  expect([after?.primary, after?.term, after?.lastFailover]).toEqual([before?.primary, before?.term, undefined]);
  // A server that had stopped with a checkpoint has nothing to recover.
  const log = await playground.kubectl.ok(`logs ${after?.primary} -c postgres`);
  expect(log).toMatch(/database system was shut down at/);
  expect(log).not.toMatch(/was interrupted|not properly shut down/);
});

/** As Prometheus asks each pod: samples by their name and labels. */
async function scrape(instance: string): Promise<ReadonlyMap<string, number>> {
  const ip = await playground.kubectl.ok(`get pod ${instance} -o jsonpath={.status.podIP}`);
  // From another pod, with the program that each has: images of PostgreSQL have no client of HTTP.
  const program = ["/setpoint/lib/ld.so", "--library-path", "/setpoint/lib", "/setpoint/node", "-e"];
  const code = "fetch(process.argv[1]).then((answer) => answer.text()).then(console.log)";
  const from = [1, 2].map((number) => `${name}-${number}`).find((each) => each !== instance) ?? "";
  const url = `http://${ip.trim()}:9187/metrics`;
  const text = await playground.kubectl.ok(`exec ${from} -c postgres --`, [...program, code, url]);
  const lines = text.split("\n").filter((line) => /^postgres_\w+/.test(line));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

test("each instance serves its metrics, by a role that can read no table", async () => {
  const { primary = "", term } = (await playground.get(name)).status ?? {};
  const replica = [1, 2, 3].map((number) => `${name}-${number}`).find((each) => each !== primary) ?? "";
  await expect.poll(async () => (await scrape(primary)).get("postgres_up"), { timeout: 30_000 }).toBe(1);
  const [ofPrimary, ofReplica] = [await scrape(primary), await scrape(replica)];
  expect(ofPrimary.get("postgres_in_recovery")).toBe(0);
  expect(ofPrimary.get("postgres_term")).toBe(term);
  expect(ofPrimary.get("postgres_streaming_replicas")).toBe(2);
  expect(ofPrimary.get(`postgres_replica_lag_bytes{replica="${replica}"}`)).toBeLessThan(16 << 20);
  expect(ofPrimary.get('postgres_database_size_bytes{database="app"}')).toBeGreaterThan(1 << 20);
  expect(ofPrimary.get('postgres_database_xid_age{database="app"}')).toBeLessThan(1_000_000);
  expect(ofPrimary.get('postgres_checkpoints_total{cause="requested"}')).toBeGreaterThan(0);
  expect(ofPrimary.get("postgres_volume_available_bytes")).toBeGreaterThan(0);
  expect(ofReplica.get("postgres_in_recovery")).toBe(1);
  expect(ofReplica.get("postgres_replication_lag_bytes")).toBeLessThan(16 << 20);
  expect(ofReplica.get("postgres_fenced")).toBe(0);
  const names = new Set([...ofPrimary, ...ofReplica].map(([key]) => key.replace(/\{.*/, "")));
  // No slot is there, and nothing is archived.
  const absent = /^postgres_(slot_|archive_last)/;
  expect(Object.keys(instanceMetrics).filter((each) => !names.has(each) && !absent.test(each))).toEqual([]);

  const asMonitor = (statement: string): Promise<string> =>
    playground.kubectl.ok(`exec ${primary} -c postgres --`, [
      "sh",
      "-c",
      `psql -h /run/setpoint/socket -U setpoint_monitor -d app -Atqc "${statement}" 2>&1 || true`,
    ]);
  expect(await asMonitor("select n from ledger")).toMatch(/permission denied for table ledger/);
  expect(await asMonitor("set role postgres")).toMatch(/permission denied to set role/);
});

test("PostgreSQL 15 has the same metrics", async () => {
  await playground.create({
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name: "fifteen" },
    spec: { version: "15", instances: 1, storage: { size: "1Gi" } },
  });
  await expect.poll(async () => (await scrape("fifteen-1")).get("postgres_up"), { timeout: 30_000 }).toBe(1);
  expect((await scrape("fifteen-1")).get('postgres_checkpoints_total{cause="timed"}')).toBeDefined();
  await playground.remove("fifteen");
});

function fence(members: readonly string[], allowQuorumLoss = false): Promise<void> {
  return change({ fencing: members.length === 0 ? null : { members, allowQuorumLoss } });
}

async function fenced(instance: string): Promise<void> {
  await eventually(async () => {
    const { fencing } = (await playground.get(name)).status ?? {};
    if (fencing?.members.some((each) => each.name === instance && each.state === "Stopped") !== true)
      throw new Error(`${instance} has not stopped: ${JSON.stringify(fencing)}`);
  }, stepMsMax);
}

test("a fenced replica stops in its pod, whose volume can be read, and follows again when it is released", async () => {
  const { primary } = (await playground.get(name)).status ?? {};
  const replica = [1, 2, 3].map((number) => `${name}-${number}`).find((each) => each !== primary) ?? "";
  await fence([replica]);
  await fenced(replica);
  const metrics = await scrape(replica);
  expect([metrics.get("postgres_up"), metrics.get("postgres_fenced")]).toEqual([0, 1]);
  expect(await reason("Fenced")).toBe("MembersFenced");
  const control = await playground.kubectl.ok(`exec ${replica} -c postgres --`, [
    "sh",
    "-c",
    "$(ls /usr/lib/postgresql/*/bin/pg_controldata) /var/lib/postgresql/data/pgdata",
  ]);
  expect(control).toMatch(/Database cluster state:\s+shut down in recovery/);
  await fence([]);
  expect((await playground.settled(name)).status?.primary).toBe(primary);
});

test("the primary is fenced only with consent, causes no failover, and hands over when a user asks for it", async () => {
  const before = (await playground.get(name)).status;
  const primary = before?.primary ?? "";
  await fence([primary]);
  await expect.poll(() => reason("Fenced"), { timeout: 30_000 }).toBe("FencingRefused");
  await fence([primary], true);
  await fenced(primary);
  expect(await reason("Available")).toBe("PrimaryFenced");
  await fence([]);
  const released = (await playground.settled(name)).status;
  expect([released?.primary, released?.term]).toEqual([primary, before?.term]);

  await fence([primary], true);
  await fenced(primary);
  const heir = [1, 2, 3].map((number) => `${name}-${number}`).find((each) => each !== primary) ?? "";
  await playground.kubectl.ok(`annotate postgrescluster ${name} postgres.setpoint.dev/switchover-to=${heir}`);
  await eventually(async () => {
    const { status } = await playground.get(name);
    if (status?.primary !== heir) throw new Error(`${status?.primary} is the primary`);
  }, stepMsMax);
  await fence([]);
  const after = (await playground.settled(name)).status;
  expect([after?.primary, after?.lastFailover]).toEqual([heir, undefined]);
});

test("no acknowledged write was lost in all of that", async () => {
  const { count, missing } = await playground.finish(name);
  console.log(`${count} acknowledged writes, ${missing.length} lost`);
  expect(missing).toEqual([]);
});
