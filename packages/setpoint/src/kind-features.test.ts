import { CustomResourceDefinition } from "@setpoint/api";
import { isApiError, type KubeObject } from "@setpoint/apimachinery";
import {
  bootstrap,
  builtinResources,
  createApiServer,
  createDiscoveryEndpoints,
  createMemoryStorage,
  serveCustomResources,
  withCrdStrategy,
} from "@setpoint/apiserver";
import { createClient, type KindRef } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { Everything } from "./kind-features.fixture.ts";

const group = "examples.setpoint.dev";
const namespace = "default";

/** The kind as others would write it, so that what the builder would refuse reaches the server. */
const Raw: KindRef = { group, version: "v1", kind: "Everything", plural: "everythings", namespaced: true };

function withSpec(name: string, spec: object): KubeObject & { readonly spec: object } {
  return { apiVersion: `${group}/v1`, kind: "Everything", metadata: { name, namespace }, spec };
}

async function world() {
  const host = simulatedHost(1);
  const storage = createMemoryStorage(host);
  const server = createApiServer({ host, storage, builtin: withCrdStrategy(builtinResources()) });
  const notCalled = { call: () => Promise.reject(new Error("nobody converts here")) };
  serveCustomResources(server, { host, storage, caller: notCalled });
  server.addEndpoints(createDiscoveryEndpoints({ registry: server.registry, clock: host.clock, healthChecks: [] }));
  await bootstrap({ storage, host });
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  const client = createClient(transport, host);
  await client.create(CustomResourceDefinition, Everything.crd({ conversion: { url: "https://127.0.0.1/convert" } }));
  const create = (spec: object, name = "e") => client.create(Raw, withSpec(name, spec));
  const get = async (path: string, accept = "application/json") => {
    const answer = await transport.send({ method: "GET", path, headers: { accept } });
    return { headers: answer.headers, object: answer.kind === "object" ? answer.object : undefined };
  };
  return { client, create, get };
}

async function messageOf(request: Promise<unknown>): Promise<string> {
  return request.then(
    () => "accepted",
    (error: unknown) => (isApiError(error) ? error.message : String(error)),
  );
}

test.each<[string, object, string]>([
  ["a number or a name as a port", { port: 80 }, "accepted"],
  ["a name as a port", { port: "http" }, "accepted"],
  ["something else as a port", { port: true }, "spec.port"],
  ["a quantity", { size: "500m" }, "accepted"],
  ["no quantity", { size: "big" }, "spec.size"],
  ["a duration", { every: "1h30m" }, "accepted"],
  ["a duration that a rule forbids", { every: "1ms" }, "at least a second"],
  ["one member of a union", { store: { s3: { bucket: "b" } } }, "accepted"],
  ["two members of a union", { store: { s3: { bucket: "b" }, local: { path: "/" } } }, "exactly one of s3, local"],
  ["no member of a union", { store: {} }, "exactly one of s3, local must be set"],
  ["more than at most one", { mode: { fast: true, safe: true } }, "at most one of fast, safe may be set"],
  [
    "a list with a key twice",
    {
      ports: [
        { name: "a", number: 1 },
        { name: "a", number: 2 },
      ],
    },
    "Duplicate value",
  ],
  ["a set with an item twice", { tags: ["a", "a"] }, "Duplicate value"],
  ["an embedded object without a kind", { whole: { metadata: { name: "x" } } }, "spec.whole"],
])("%s", async (_, spec, expected) => {
  const { create } = await world();
  expect(await messageOf(create(spec))).toContain(expected);
});

test("preserved fields stay, unknown ones elsewhere go", async () => {
  const { create } = await world();
  const whole = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", labels: { a: "b" } },
    spec: { any: ["thing"] },
  };
  const made = await create({ anything: { goes: [1, { deep: true }] }, whole, unknown: 1 });
  expect(made).toMatchObject({ spec: { anything: { goes: [1, { deep: true }] }, whole } });
  expect(made).not.toHaveProperty("spec.unknown");
  expect(made).toMatchObject({ spec: { replicas: 1, size: "1Gi" } });
});

test("an immutable field may be set once and not changed", async () => {
  const { client, create } = await world();
  await create({ engine: "a" });
  const changed = client.patch(Raw, { namespace, name: "e" }, { spec: { engine: "b" } });
  expect(await messageOf(changed)).toContain('spec.engine: Invalid value: "b": the value is immutable');
});

test("two managers own different items of a list with keys", async () => {
  const { client } = await world();
  const apply = (fieldManager: string, port: object) =>
    client.apply(Raw, withSpec("e", { ports: [port] }), { fieldManager });
  await apply("one", { name: "http", number: 80 });
  const both = await apply("two", { name: "https", number: 443 });
  expect(both).toMatchObject({ spec: { ports: [{ name: "http" }, { name: "https" }] } });
});

test("fields can be selected, and the scale is a subresource", async () => {
  const { client, create } = await world();
  await create({ engine: "a" }, "one");
  await create({ engine: "b" }, "two");
  const { items } = await client.list(Raw, { namespace, fieldSelector: "spec.engine=b" });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["two"]);
  await client.scale(Raw, { namespace, name: "two" }, 3);
  expect(await client.get(Raw, { namespace, name: "two" })).toMatchObject({ spec: { replicas: 3 } });
});

test("kubectl finds the short name, the category and the columns, and is warned of the old version", async () => {
  const { create, get } = await world();
  await create({ engine: "a" });
  const { object } = await get(`/apis/${group}/v1`);
  expect(object).toMatchObject({ resources: [{ shortNames: ["evy"], categories: ["examples"] }, {}, {}] });
  const path = `/apis/${group}/v1/namespaces/${namespace}/everythings`;
  const table = await get(path, "application/json;as=Table;v=v1;g=meta.k8s.io");
  expect(table.object).toMatchObject({
    columnDefinitions: [
      { name: "Name" },
      { name: "Desired" },
      { name: "Engine", priority: 1 },
      { name: "Ready" },
      { name: "Age" },
    ],
    rows: [{ cells: ["e", 1, "a", null, expect.anything()] }],
  });
  const old = await get(`/apis/${group}/v1alpha1/namespaces/none/everythings`);
  expect(old.headers["warning"]).toContain("examples.setpoint.dev/v1alpha1 Everything goes away; use v1");
});
