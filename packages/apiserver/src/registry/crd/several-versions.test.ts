import { expect, onTestFinished, test } from "vitest";
import { builtinResources } from "../builtin/builtin-resources.ts";
import { asking, startServer } from "../../assembly/server.fixture.ts";
import { serveCustomResources, withCrdStrategy } from "../../assembly/serve-custom-resources.ts";

interface Seen {
  readonly message?: string;
  readonly spec: object;
}

const integer = { type: "integer" };
const text = { type: "string" };

function version(name: string, properties: object, more: object = {}): object {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } };
  return { name, served: true, storage: name === "v1", schema: { openAPIV3Schema }, ...more };
}

async function start(...versions: readonly object[]): Promise<ReturnType<typeof asking<Seen>>> {
  const { host, storage, server } = startServer({ builtin: withCrdStrategy(builtinResources()) });
  const custom = serveCustomResources(server, { host, storage });
  onTestFinished(() => custom.stop());
  const ask = asking<Seen>(server, { username: "admin", groups: ["system:masters"] });
  const names = { plural: "widgets", kind: "Widget" };
  const made = await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: { group: "example.com", scope: "Namespaced", names, versions },
  });
  expect(made.body.message).toBeUndefined();
  return ask;
}

const at = (name: string): string => `/apis/example.com/${name}/namespaces/default/widgets`;

function widget(name: string, spec: object): object {
  return { apiVersion: `example.com/${name}`, kind: "Widget", metadata: { name: "w" }, spec };
}

test("what the storage version does not know is lost, and other versions show its defaults, not their own", async () => {
  const one = version("v1", { a: text, b: { type: "string", default: "one" } });
  const two = version("v2", { a: text, b: text, c: integer, d: { type: "string", default: "two" } });
  const ask = await start(one, two);
  const made = await ask("POST", at("v2"), widget("v2", { a: "x", c: 3 }));
  expect(made.body.spec).toEqual({ a: "x", b: "one" });
  const patched = await ask("PATCH", `${at("v2")}/w`, { spec: { a: "y", c: 4 } });
  expect(patched.body.spec).toEqual({ a: "y", b: "one" });
  expect((await ask("GET", `${at("v1")}/w`)).body.spec).toEqual({ a: "y", b: "one" });
});

test("a scale sets replicas that were not there, and cannot be read before", async () => {
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  const status = { type: "object", properties: { replicas: integer } };
  const spec = { type: "object", properties: { replicas: integer } };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec, status } } };
  const ask = await start(version("v1", {}, { schema, subresources: { status: {}, scale } }));
  await ask("POST", at("v1"), widget("v1", {}));
  expect((await ask("GET", `${at("v1")}/w/scale`)).code).toBe(500);
  expect(await ask("PATCH", `${at("v1")}/w/scale`, { spec: { replicas: 2 } })).toMatchObject({
    code: 200,
    body: { spec: { replicas: 2 } },
  });
  expect((await ask("GET", `${at("v1")}/w`)).body.spec).toEqual({ replicas: 2 });
});

test("an object within an object says a kind and a version that there can be", async () => {
  const ask = await start(
    version("v1", { of: { type: "object", "x-kubernetes-embedded-resource": true, properties: { a: text } } }),
  );
  const { code, body } = await ask("POST", at("v1"), widget("v1", { of: { apiVersion: "a/b/c", kind: "X y" } }));
  expect([code, body.message]).toEqual([
    422,
    expect.stringMatching(
      /spec\.of\.apiVersion: Invalid value: "a\/b\/c": unexpected GroupVersion string: a\/b\/c, spec\.of\.kind: Invalid value: "X y": may have mixed case/,
    ),
  ]);
});
