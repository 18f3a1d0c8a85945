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
