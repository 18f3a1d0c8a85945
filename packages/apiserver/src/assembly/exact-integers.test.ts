/** Integers beyond 2^53 through the server: each answer is that of a kube-apiserver. */
import {
  type ApiRequest,
  decodeJson,
  encodeJson,
  type UnstructuredObject,
  type WatchFrame,
} from "@setpoint/apimachinery";
import { noMetrics, silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, onTestFinished, test } from "vitest";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { createMemoryStorage } from "../storage/memory-storage.ts";
import { createApiServer } from "./api-server.ts";
import { serveCustomResources, withCrdStrategy } from "./serve-custom-resources.ts";

const big = 9007199254740993n;
const widgets = "/apis/ex.test/v1/namespaces/default/widgets";
const integer = { type: "integer" };
const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const keyed = { type: "object", required: ["k"], properties: { k: integer, v: { type: "string" } } };
const spec = {
  type: "object",
  "x-kubernetes-validations": [{ rule: "!has(self.ruled) || self.ruled == 9007199254740993", message: "not exact" }],
  properties: {
    big: { type: "integer", format: "int64" },
    small: { type: "integer", format: "int32" },
    least: { type: "integer", minimum: big, maximum: 9223372036854775807n },
    third: { type: "integer", multipleOf: 3 },
    one: { type: "integer", enum: [big] },
    ruled: integer,
    ratio: { type: "number" },
    port: { "x-kubernetes-int-or-string": true },
    filled: { type: "integer", default: big },
    free,
    set: { type: "array", items: integer, "x-kubernetes-list-type": "set" },
    map: { type: "array", items: keyed, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] },
  },
};
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.ex.test" },
  spec: {
    group: "ex.test",
    names: { kind: "Widget", plural: "widgets", singular: "widget" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        additionalPrinterColumns: [{ name: "Big", type: "integer", jsonPath: ".spec.big" }],
      },
    ],
  },
};

type Answer = UnstructuredObject & { readonly message?: string; readonly spec: Readonly<Record<string, unknown>> };

async function start() {
  const random = seededRandom(1);
  const clock = new VirtualClock(random);
  const host = { clock, random, log: silentLogger, metrics: noMetrics };
  const storage = createMemoryStorage({ clock, log: silentLogger });
  const server = createApiServer({ host, storage, builtin: withCrdStrategy(builtinResources()) });
  const custom = serveCustomResources(server, { host, storage });
  onTestFinished(() => custom.stop());
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  /** As over HTTP: text there and back. */
  const send = async (method: ApiRequest["method"], path: string, body?: unknown, type = "json"): Promise<Answer> => {
    const text = typeof body === "string" ? body : encodeJson(body);
    const answer = await transport.send({
      method,
      path,
      query: type === "apply-patch+yaml" ? { fieldManager: "me", force: "true" } : {},
      headers: { "content-type": `application/${type}` },
      ...(body === undefined ? {} : { body: Buffer.from(text) }),
    });
    if (answer.kind !== "object") throw new Error(`Cannot read a ${answer.kind} answer`);
    return decodeJson(encodeJson(answer.object)) as Answer;
  };
  await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  const create = (fields: object): Promise<Answer> =>
    send("POST", widgets, { apiVersion: "ex.test/v1", kind: "Widget", metadata: { name: "w" }, spec: fields });
  return { send, create, transport };
}

test("an integer is stored, read, listed and watched as it was sent, typed or not", async () => {
  const { send, create, transport } = await start();
  const sent = { big, ratio: big, port: big, least: 9223372036854775807n, free: { a: [-big, { b: big }] } };
  expect((await create(sent)).spec).toEqual({ ...sent, filled: big });
  expect((await send("GET", `${widgets}/w`)).spec).toEqual({ ...sent, filled: big });
  const list = (await send("GET", widgets)) as unknown as { readonly items: readonly Answer[] };
  expect(list.items[0]?.spec).toEqual({ ...sent, filled: big });
  const watch = await transport.send({ method: "GET", path: widgets, query: { watch: "true" } });
  if (watch.kind !== "watch") throw new Error("no watch");
  const first: WatchFrame = (await watch.frames[Symbol.asyncIterator]().next()).value;
  expect((first.object as Answer).spec).toEqual({ ...sent, filled: big });
});

test.each([
  ["merge-patch+json", { spec: { free: { b: 9223372036854775806n } } }],
  [
    "json-patch+json",
    [
      { op: "test", path: "/spec/big", value: big },
      { op: "add", path: "/spec/free/b", value: 9223372036854775806n },
    ],
  ],
  [
    "apply-patch+yaml",
    "apiVersion: ex.test/v1\nkind: Widget\nmetadata: {name: w}\nspec: {free: {b: 9223372036854775806}}",
  ],
])("a patch of type %s changes an integer exactly, and leaves others alone", async (type, patch) => {
  const { send, create } = await start();
  await create({ big, free: { a: big } });
  const changed = await send("PATCH", `${widgets}/w`, patch, type);
  expect(changed.spec).toMatchObject({ big, free: { a: big, b: 9223372036854775806n } });
});

test("a JSON patch that tests for the neighbour of an integer fails", async () => {
  const { send, create } = await start();
  await create({ big });
  const patch = [{ op: "test", path: "/spec/big", value: big - 1n }];
  expect(await send("PATCH", `${widgets}/w`, patch, "json-patch+json")).toMatchObject({ code: 422 });
});

test("items of sets and maps have such integers as keys, also in managedFields", async () => {
  const { send } = await start();
  const apply = (fields: object): Promise<Answer> =>
    send(
      "PATCH",
      `${widgets}/w`,
      { apiVersion: "ex.test/v1", kind: "Widget", metadata: { name: "w" }, spec: fields },
      "apply-patch+yaml",
    );
  const map = [
    { k: big - 1n, v: "a" },
    { k: big, v: "b" },
  ];
  const applied = await apply({ set: [big - 1n, big], map });
  expect(applied.spec).toMatchObject({ set: [big - 1n, big], map });
  expect(encodeJson(applied.metadata.managedFields)).toContain(
    '"f:map":{"k:{\\"k\\":9007199254740992}":{".":{},"f:k":{},"f:v":{}},"k:{\\"k\\":9007199254740993}"',
  );
  expect(encodeJson(applied.metadata.managedFields)).toContain(
    '"f:set":{"v:9007199254740992":{},"v:9007199254740993":{}}',
  );
  expect((await apply({ set: [big], map: map.slice(1) })).spec).toMatchObject({ set: [big], map: map.slice(1) });
  const twice = await apply({ set: [big, big] });
  expect(twice.message).toContain(".spec.set: duplicate entries for key [=9007199254740993]");
});

test.each([
  [{ least: 9007199254740991 }, "should be greater than or equal to"],
  [{ third: big + 1n }, "Invalid value: 9007199254740994: spec.third in body should be a multiple of 3"],
  [{ one: big - 1n }, "Unsupported value: 9007199254740992: supported values: "],
  [{ ruled: big - 1n }, "not exact"],
  [{ small: 2147483648 }, "Checked value must be of type integer with format int32 in spec.small"],
  [{ big: 0.5 }, 'Invalid value: "float64": spec.big in body must be of type int64: "float64"'],
])("a value that does not fit is refused: %o", async (fields, message) => {
  const { create } = await start();
  expect((await create(fields)).message).toContain(message);
});

test("a value that fits a rule, a limit or an enumeration only exactly is taken", async () => {
  const { create } = await start();
  const fields = { least: big, third: big, one: big, ruled: big };
  expect((await create(fields)).spec).toMatchObject(fields);
});

test.each([
  ['"big":9223372036854775808', 'spec.big in body must be of type int64: "float64"'],
  ['"ruled":1e16', 'spec.ruled in body must be of type integer: "number"'],
  ['"big":9007199254740993.0', 'spec.big in body must be of type int64: "float64"'],
  ['"ratio":1e400', "json: cannot unmarshal number 1e400 into Go value of type float64"],
])("%s is no integer of 64 bits", async (field, message) => {
  const { send } = await start();
  const text = `{"apiVersion":"ex.test/v1","kind":"Widget","metadata":{"name":"w"},"spec":{${field}}}`;
  expect((await send("POST", widgets, text)).message).toContain(message);
});

test("a limit of a CustomResourceDefinition beyond 2^53 is a float, and costs no rule its estimate", async () => {
  const { send } = await start();
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.ex.test";
  const stored = await send("GET", path);
  const [version] = stored.spec["versions"] as { readonly schema: object }[];
  expect(encodeJson(version?.schema)).toContain('"minimum":9007199254740992');
  expect(encodeJson(version?.schema)).toContain('"default":9007199254740993');
  expect(encodeJson(version?.schema)).toContain('"enum":[9007199254740993]');
});

test("an integer where a name is expected is printed as it was sent", async () => {
  const { send, create } = await start();
  await create({});
  const refused = await send("DELETE", `${widgets}/w`, {
    kind: "DeleteOptions",
    apiVersion: "v1",
    propagationPolicy: big,
  });
  expect(refused.message).toContain("Unsupported value: 9007199254740993");
});

test("int64 fields of built-in kinds are exact, and decisions by them go on", async () => {
  const { send } = await start();
  const containers = [{ name: "a", image: "a" }];
  const pod = { metadata: { name: "p" }, spec: { terminationGracePeriodSeconds: big, nodeName: "n", containers } };
  const pods = "/api/v1/namespaces/default/pods";
  expect((await send("POST", pods, pod)).spec).toMatchObject({ terminationGracePeriodSeconds: big });
  const marked = await send("DELETE", `${pods}/p`);
  expect(marked.metadata.deletionGracePeriodSeconds).toBeDefined();
  const quota = { metadata: { name: "q" }, spec: { hard: { pods: big } } };
  const stored = await send("POST", "/api/v1/namespaces/default/resourcequotas", quota);
  expect(stored.spec).toEqual({ hard: { pods: "9007199254740993" } });
});
