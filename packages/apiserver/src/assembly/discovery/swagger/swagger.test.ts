import { systemClock } from "@setpoint/host/system";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { builtinResources } from "../../../registry/builtin/builtin-resources.ts";
import { parseCrd } from "../../../registry/crd/crd-object.ts";
import { crdStrategy } from "../../../registry/crd/crd-strategy.ts";
import { customDefinitions } from "../../../registry/crd/custom-definition.ts";
import { readFields } from "../../../registry/protobuf/wire-reader.ts";
import { Registry } from "../../../registry/registry.ts";
import { createDiscoveryEndpoints } from "../discovery-endpoints.ts";

interface Schema {
  readonly $ref?: string;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly [key: string]: unknown;
}

interface Operation {
  readonly parameters: readonly { readonly name?: string; readonly $ref?: string }[];
  readonly responses: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Swagger {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly definitions: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

function setUp() {
  const registry = new Registry(builtinResources());
  const table = createDiscoveryEndpoints({ registry, clock: systemClock });
  const ask = async (headers: Record<string, string> = {}) => {
    const request = { method: "GET" as const, path: "/openapi/v2", query: {}, headers };
    const signal = new AbortController().signal;
    const answer = await table.get("GET /openapi/v2")?.({ request, attributes: {} as never, body: undefined, signal });
    if (answer?.kind !== "bytes") throw new Error("the document is not bytes");
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.bytes) chunks.push(chunk);
    return { status: answer.status, headers: answer.headers, bytes: Buffer.concat(chunks) };
  };
  const document = async (): Promise<Swagger> => JSON.parse((await ask()).bytes.toString());
  const serve = (schema: object, ...versions: readonly string[]): void =>
    registry.setCustom("sweets.example.com", sweets(schema, versions.length === 0 ? ["v1"] : versions));
  return { ask, document, serve };
}

function sweets(openAPIV3Schema: object, versions: readonly string[]) {
  const manifest = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "sweets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "sweets", singular: "sweet", kind: "Sweet", listKind: "SweetList" },
      versions: versions.map((name, at) => ({ name, served: true, storage: at === 0, schema: { openAPIV3Schema } })),
    },
  } as unknown as UnstructuredObject;
  crdStrategy.setDefaults?.(manifest);
  return customDefinitions(parseCrd(manifest), { isTerminating: () => false });
}

test("built-in kinds stand in the document, with references beside their descriptions", async () => {
  const { definitions } = await setUp().document();
  const deployment = definitions["io.k8s.api.apps.v1.Deployment"];
  expect(deployment?.properties["spec"]?.$ref).toBe("#/definitions/io.k8s.api.apps.v1.DeploymentSpec");
  expect(deployment?.["x-kubernetes-group-version-kind"]).toEqual([
    { group: "apps", kind: "Deployment", version: "v1" },
  ]);
  expect(definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]).toEqual({
    type: "string",
    format: "int-or-string",
  });
});

test("the body of an operation is a parameter, and bodies of all kinds are kept once", async () => {
  const { paths, parameters } = await setUp().document();
  const { put, delete: remove } = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"] ?? {};
  const schema = { $ref: "#/definitions/io.k8s.api.apps.v1.Deployment" };
  expect(put?.parameters[0]).toEqual({ name: "body", in: "body", required: true, schema });
  expect(put?.responses["200"]?.schema).toEqual(schema);
  const shared = remove?.parameters.find((each) => each.$ref?.startsWith("#/parameters/body-"))?.$ref ?? "";
  expect(parameters[shared.slice("#/parameters/".length)]).toMatchObject({ in: "body" });
});

test("kubectl finds fieldValidation in the patch of a kind without following references", async () => {
  const { paths } = await setUp().document();
  const { patch } = paths["/api/v1/namespaces/{namespace}/pods/{name}"] ?? {};
  expect(patch?.parameters.map(({ name }) => name)).toContain("fieldValidation");
});

test("a custom resource is published with what OpenAPI v2 can say about it", async () => {
  const { document, serve } = setUp();
  serve({
    type: "object",
    description: "A sweet.",
    required: ["color", "size"],
    properties: {
      color: { type: "string", nullable: true },
      size: { type: "integer", maximum: 9, oneOf: [{ minimum: 1 }] },
      port: { "x-kubernetes-int-or-string": true },
      list: { type: "array", items: { type: "string" } },
      open: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "string" } } },
    },
  });
  const { properties = {}, ...root } = (await document()).definitions["com.example.v1.Sweet"] ?? {};
  expect(root).toEqual({
    type: "object",
    description: "A sweet.",
    required: ["size"],
    "x-kubernetes-group-version-kind": [{ group: "example.com", kind: "Sweet", version: "v1" }],
  });
  expect(properties).toMatchObject({
    metadata: { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" },
  });
  const { color, size, port, list, open } = properties;
  expect({ color, size, port, list, open }).toEqual({
    color: {},
    size: { type: "integer", maximum: 9 },
    port: { "x-kubernetes-int-or-string": true },
    list: { type: "array", items: { type: "string" } },
    open: { "x-kubernetes-preserve-unknown-fields": true },
  });
});

test("a custom resource that takes any field is an object without properties", async () => {
  const { document, serve } = setUp();
  serve({ type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "string" } } });
  expect((await document()).definitions["com.example.v1.Sweet"]).toEqual({
    type: "object",
    "x-kubernetes-group-version-kind": [{ group: "example.com", kind: "Sweet", version: "v1" }],
  });
});

test("versions of a kind with equal schemas have documents of their own", async () => {
  const { document, serve } = setUp();
  serve({ type: "object" }, "v1", "v2");
  const { definitions, paths } = await document();
  expect(Object.keys(definitions)).toEqual(expect.arrayContaining(["com.example.v1.Sweet", "com.example.v2.Sweet"]));
  expect(Object.keys(paths)).toContain("/apis/example.com/v2/namespaces/{namespace}/sweets");
});

test("the tag of the document changes when a CRD changes, and an equal tag needs no document", async () => {
  const { ask, serve } = setUp();
  const first = (await ask()).headers["etag"] ?? "";
  expect((await ask({ "if-none-match": first })).status).toBe(304);
  serve({ type: "object", description: "One." });
  const second = (await ask({ "if-none-match": first })).headers["etag"];
  serve({ type: "object", description: "Two." });
  const third = (await ask({ "if-none-match": second ?? "" })).headers["etag"];
  expect(new Set([first, second, third]).size).toBe(3);
});

test("client-go reads the document as protobuf", async () => {
  const { ask, serve } = setUp();
  serve({ type: "object", properties: { size: { type: "integer", minimum: 1.5, enum: [2, 3] } } });
  const answer = await ask({ accept: protobuf });
  expect(answer.headers["content-type"]).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  const document = fieldsOf(answer.bytes);
  expect(text(document, 1)).toBe("2.0");
  const sweet = named(fieldsOf(one(document, 9)), 1, "com.example.v1.Sweet");
  expect(text(fieldsOf(one(sweet, 22)), 1)).toBe("object");
  expect(extensions(sweet)).toEqual({
    "x-kubernetes-group-version-kind": '[{"group":"example.com","kind":"Sweet","version":"v1"}]\n',
  });
  const size = named(fieldsOf(one(sweet, 25)), 1, "size");
  expect(Buffer.from(one(size, 9)).readDoubleLE()).toBe(1.5);
  expect(size.filter(({ number }) => number === 20).map((each) => text(fieldsOf(bytesOf(each)), 2))).toEqual([
    "2\n",
    "3\n",
  ]);
  const path = named(fieldsOf(one(document, 8)), 2, "/apis/example.com/v1/namespaces/{namespace}/sweets/{name}");
  expect(text(fieldsOf(one(path, 8)), 5)).toBe("patchExampleComV1NamespacedSweet");
});

test("a client that takes neither form gets 406", async () => {
  expect((await setUp().ask({ accept: "application/xml" })).status).toBe(406);
});

type Fields = ReturnType<typeof readFields>;

const fieldsOf = (bytes: Uint8Array): Fields => readFields(bytes);
const bytesOf = ({ value }: Fields[number]): Uint8Array => (value.kind === "varint" ? new Uint8Array() : value.bytes);

function one(fields: Fields, number: number): Uint8Array {
  const found = fields.find((each) => each.number === number);
  if (found === undefined) throw new Error(`there is no field ${number}`);
  return bytesOf(found);
}

const text = (fields: Fields, number: number): string => Buffer.from(one(fields, number)).toString();

/** The value of an entry of a map. */
function named(fields: Fields, number: number, name: string): Fields {
  const entries = fields.filter((each) => each.number === number).map((each) => fieldsOf(bytesOf(each)));
  const found = entries.find((entry) => text(entry, 1) === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return fieldsOf(one(found, 2));
}

function extensions(schema: Fields): Record<string, string> {
  const entries = schema.filter(({ number }) => number === 31).map((each) => fieldsOf(bytesOf(each)));
  return Object.fromEntries(entries.map((entry) => [text(entry, 1), text(fieldsOf(one(entry, 2)), 2)]));
}
