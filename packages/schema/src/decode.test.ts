import { expect, test } from "vitest";
import { applyDefaults, decode, isDecodeError, type StructuralSchema } from "./index.ts";

const text: StructuralSchema = { type: "string" };
const schema: StructuralSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", default: 3 },
        name: text,
        note: { type: "string", nullable: true },
        port: { "x-kubernetes-int-or-string": true },
        tags: {
          type: "array",
          items: { type: "object", properties: { key: text, on: { type: "boolean", default: true } } },
        },
        free: {
          type: "object",
          properties: { known: { type: "object", properties: { a: text } } },
          "x-kubernetes-preserve-unknown-fields": true,
        },
        labels: { type: "object", additionalProperties: text },
        data: { type: "array", items: { type: "string", format: "byte" } },
        on: { type: "boolean" },
        share: { type: "number" },
        child: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          properties: { spec: { type: "object", properties: { a: text } } },
        },
      },
    },
  },
};
const object = (spec: unknown, metadata: unknown = { name: "a" }): unknown => ({
  apiVersion: "e/v1",
  kind: "E",
  metadata,
  spec,
});
const report = (value: unknown): string[] => decode(schema, value, { unknown: "report" }).unknownFields;
const specOf = (spec: unknown): unknown =>
  (decode(schema, object(spec), { unknown: "prune" }).value as { spec: unknown }).spec;
const failure = (value: unknown, wrongTypes: "throw" | "keep" = "throw"): unknown => {
  try {
    return decode(schema, value, { unknown: "prune", wrongTypes });
  } catch (error) {
    if (!isDecodeError(error)) throw error;
    return [error.path, error.wanted, error.found];
  }
};

test("decode() copies, drops unknown fields and names them in the order of the input", () => {
  const input = object({ name: "x", extra: 1, tags: [{ key: "k", odd: 2 }] }, { name: "a", nick: "b" });
  const { value, unknownFields } = decode(schema, input, { unknown: "report" });
  expect(unknownFields).toEqual(["metadata.nick", "spec.extra", "spec.tags[0].odd"]);
  expect(value).toEqual(object({ name: "x", tags: [{ key: "k" }] }));
  expect(value).not.toBe(input);
});

test("decode() keeps what the schema preserves, and still prunes the known fields within", () => {
  expect(specOf({ free: { any: { deep: [1] }, known: { a: "1", b: 2 } } })).toEqual({
    free: { any: { deep: [1] }, known: { a: "1" } },
  });
});

test("decode() coerces the metadata of embedded objects", () => {
  expect(
    report(
      object({ child: { apiVersion: "v1", kind: "C", metadata: { name: "c", wrong: 1 }, spec: { a: "1" }, more: 1 } }),
    ),
  ).toEqual(["spec.child.metadata.wrong", "spec.child.more"]);
  expect(failure(object({ child: { metadata: { labels: { a: 1 } } } }), "keep")).toEqual([
    "spec.child.metadata.labels.a",
    "string",
    "number",
  ]);
});

test("decode() drops a null field that is neither nullable nor replaced by a default", () => {
  expect(specOf({ name: null, note: null, size: null, labels: null })).toEqual({ note: null, size: null });
});

test("decode() makes a null in a map or list of a built-in kind the zero of its type, and drops it elsewhere", () => {
  expect(specOf({ labels: { a: null } })).toEqual({ labels: { a: "" } });
  const options = { unknown: "prune", wrongTypes: "keep" } as const;
  expect(decode(schema, object({ labels: { a: null } }), options).value).toMatchObject({ spec: { labels: {} } });
});

test("decode() refuses a wrong JSON type with path, expected and found, or keeps it for validation", () => {
  expect(failure(object({ size: "3" }))).toEqual(["spec.size", "integer", "string"]);
  expect(failure(object({ tags: [{ key: [] }] }))).toEqual(["spec.tags[0].key", "string", "array"]);
  expect(failure([])).toEqual(["", "object", "array"]);
  expect(failure(object({ size: "3" }), "keep")).toMatchObject({ value: object({ size: "3" }) });
});

test.each([
  [{ data: ["YQ==", "no base64"] }, "spec.data[1]"],
  [{ on: "true" }, "spec.on"],
  [{ share: "0.5" }, "spec.share"],
  [{ name: true }, "spec.name"],
  [{ labels: { a: 1 } }, "spec.labels.a"],
])("decode() refuses %j", (spec, path) => {
  expect(failure(object(spec))).toMatchObject([path, expect.anything(), expect.anything()]);
});

test("decode() takes scalars as they are", () => {
  const spec = { data: ["YQ=="], on: false, share: 0.5, name: "", labels: { a: "" } };
  expect(specOf(spec)).toEqual(spec);
});

test("decode() does not let a field named __proto__ change a prototype", () => {
  const value = JSON.parse('{"labels":{"__proto__":"x"}}') as unknown;
  expect(JSON.stringify(specOf(value))).toBe('{"labels":{"__proto__":"x"}}');
});

test("decode() follows a schema that contains itself only as deep as the data", () => {
  const node: { type: "object"; properties: Record<string, StructuralSchema> } = {
    type: "object",
    properties: { name: text },
  };
  node.properties["next"] = node;
  const value = { name: "a", next: { name: "b", next: { name: "c", odd: 1 } } };
  expect(decode(node, value, { unknown: "report" }).unknownFields).toEqual(["next.next.odd"]);
});

test("applyDefaults() fills what is missing in objects that exist, also in lists", () => {
  const value = object({ size: null, tags: [{ key: "k" }] });
  applyDefaults(schema, value);
  expect(value).toEqual(object({ size: 3, tags: [{ key: "k", on: true }] }));
  const empty = {};
  applyDefaults(schema, empty);
  expect(empty).toEqual({});
});

test("applyDefaults() goes on inside a default that is an object, and copies it", () => {
  const nested: StructuralSchema = {
    type: "object",
    properties: { a: { type: "object", default: {}, properties: { b: { type: "integer", default: 7 } } } },
  };
  const first: { a?: unknown } = {};
  applyDefaults(nested, first);
  expect(first).toEqual({ a: { b: 7 } });
  const second: { a?: unknown } = {};
  applyDefaults(nested, second);
  expect(second.a).not.toBe(first.a);
});

test("applyDefaults() reaches a default through a schema that contains itself", () => {
  const properties: Record<string, StructuralSchema> = {};
  const node: StructuralSchema = { type: "object", properties };
  properties["next"] = node;
  properties["limits"] = { type: "object", additionalProperties: { type: "array", items: node } };
  properties["size"] = { type: "integer", default: 1 };
  const value = { next: { next: {} }, limits: { a: [{}] } };
  applyDefaults(node, value);
  expect(value).toEqual({ size: 1, next: { size: 1, next: { size: 1 } }, limits: { a: [{ size: 1 }] } });
});
