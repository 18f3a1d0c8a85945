/** Days after the first on real PostgreSQL: a cluster sleeps and wakes, and no acknowledged write is lost. */
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
