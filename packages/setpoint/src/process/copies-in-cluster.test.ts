import { Deployment, Lease } from "@setpoint/api";
import { createKind, type KubeObject, type Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { systemHost } from "@setpoint/host/system";
import { LeaderElector } from "@setpoint/runtime";
import { afterAll, afterEach, expect, test } from "vitest";
import { reportCopiesInCluster } from "./copies-in-cluster.ts";

const plane = await startControlPlane({ host: { ...systemHost(), log: silentLogger }, controllers: false });
afterAll(() => plane[Symbol.asyncDispose]());

const { clock } = systemHost();
const client = createClient(plane.transport, systemHost());
const key = { name: "toys", namespace: "default" };
const times = { renewedMs: 60, lookMs: 20 };

interface Event extends KubeObject {
  readonly note?: string;
  readonly reason?: string;
  readonly regarding?: { readonly kind?: string };
}

const Event = createKind<Event>({
  ...{ group: "events.k8s.io", version: "v1", kind: "Event", plural: "events", namespaced: true },
});

afterEach(async () => {
  await client.delete(Lease, key).catch(() => {});
  for (const { metadata } of await events()) await client.delete(Event, { ...metadata, namespace: "default" });
});

async function events(): Promise<readonly (Event & { readonly metadata: { readonly name: string } })[]> {
  return (await client.listAll(Event, { namespace: "default" })).items;
}

const hostWithLog = () => ({ ...simulatedHost(1), clock });

type LoggingHost = ReturnType<typeof hostWithLog>;

/** A run on a desk, as an account of the cluster. */
function desk(transport: Transport = plane.transport): { host: LoggingHost } & AsyncDisposable {
  const host = hostWithLog();
  const options = { name: "toys", client: createClient(transport, host), host, identity: "ann@desk", times };
  return Object.assign(reportCopiesInCluster(options), { host });
}

/** A replica in the cluster, which renews its Lease every 20 ms. */
async function replica(): Promise<{ readonly host: LoggingHost } & AsyncDisposable> {
  const host = hostWithLog();
  const stop = new AbortController();
  const elector = new LeaderElector(client, host, { ...key, identity: "toys-0", retryPeriodSeconds: 0.02 });
  await elector.acquire(stop.signal);
  const held = elector.hold(stop.signal).catch(() => {});
  return {
    host,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await held;
    },
  };
}

const warnings = ({ lines }: LoggingHost): readonly string[] =>
  lines.filter(({ level }) => level === "warn").map(({ message }) => message);

test("a desk run and the replica beside it both warn, once, and the Lease gets an Event", async () => {
  await using inCluster = await replica();
  await using onDesk = desk();
  await expect.poll(() => warnings(onDesk.host)).toEqual([expect.stringContaining("also runs in the cluster")]);
  await expect.poll(() => warnings(inCluster.host)).toContainEqual(expect.stringContaining("also runs on a desk"));
  await expect.poll(events).toMatchObject([{ reason: "RunsOnDeskToo", regarding: { kind: "Lease" } }]);
  await new Promise((resolve) => setTimeout(resolve, 3 * (times.renewedMs + times.lookMs)));
  expect(warnings(onDesk.host)).toHaveLength(1);
  expect(await events()).toHaveLength(1);
});

test("the Event is the Deployment's when there is one", async () => {
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { selector: { matchLabels: { a: "b" } }, template };
  await client.create(Deployment, Deployment({ name: "toys-operator", namespace: "default", spec }));
  await using _inCluster = await replica();
  await using _onDesk = desk();
  await expect.poll(events).toMatchObject([{ regarding: { kind: "Deployment" } }]);
  await client.delete(Deployment, { name: "toys-operator", namespace: "default" });
});

test.each([
  ["a Lease that nobody renews", plane.transport],
  ["a Lease that the account cannot see", plane.transportAs({ username: "bob", groups: ["system:authenticated"] })],
])("%s causes no warning", async (_what, transport) => {
  const inCluster = await replica();
  if (transport === plane.transport) await inCluster[Symbol.asyncDispose]();
  await using onDesk = desk(transport);
  await new Promise((resolve) => setTimeout(resolve, 3 * (times.renewedMs + times.lookMs)));
  expect(warnings(onDesk.host)).toEqual([]);
  await inCluster[Symbol.asyncDispose]();
});
