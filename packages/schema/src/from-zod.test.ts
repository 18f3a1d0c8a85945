import { expect, test } from "vitest";
import { z } from "zod";
import {
  conditions,
  duration,
  embeddedObject,
  field,
  int64,
  intOrString,
  labelSelector,
  preserved,
  structuralFromZod,
  timestamp,
} from "./index.ts";

const safe = Number.MAX_SAFE_INTEGER;
const convert = (schema: z.ZodType): unknown => structuralFromZod(schema, "spec");

test.each([
  ["int", z.int(), { type: "integer", format: "int64", minimum: -safe, maximum: safe }],
  ["int64", int64(), { type: "integer", format: "int64" }],
  ["int with bounds", z.int().min(1).max(5), { type: "integer", format: "int64", minimum: 1, maximum: 5 }],
  ["int32", z.int32(), { type: "integer", format: "int32" }],
  [
    "positive",
    z.int().positive(),
    { type: "integer", format: "int64", minimum: 0, exclusiveMinimum: true, maximum: safe },
  ],
  ["number", z.number().lt(2), { type: "number", maximum: 2, exclusiveMaximum: true }],
  ["literals", z.literal([1, 3, 5, 7]), { type: "integer", enum: [1, 3, 5, 7] }],
  ["union of literals", z.union([z.literal(1), z.literal(3)]), { type: "integer", enum: [1, 3] }],
  ["enum with default", z.enum(["a", "b"]).default("b"), { type: "string", enum: ["a", "b"], default: "b" }],
  ["nullable", z.string().nullable(), { type: "string", nullable: true }],
  [
    "described nullable",
    field(z.string().nullable(), { description: "d" }),
    { type: "string", nullable: true, description: "d" },
  ],
  ["record", z.record(z.string(), z.boolean()), { type: "object", additionalProperties: { type: "boolean" } }],
  [
    "record of an enum",
    z.partialRecord(z.enum(["a", "b"]), z.string()),
    { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
  ],
  [
    "record of anything",
    z.record(z.string(), z.unknown()),
    { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  ],
  ["anything", z.unknown(), { "x-kubernetes-preserve-unknown-fields": true }],
  ["loose", preserved(), { type: "object", properties: {}, "x-kubernetes-preserve-unknown-fields": true }],
  [
    "strict",
    z.strictObject({ a: z.string() }),
    { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  ],
  ["pattern", z.string().regex(/^a+$/).max(9), { type: "string", pattern: "^a+$", maxLength: 9 }],
  [
    "two patterns",
    z.string().startsWith("a").endsWith("b"),
    { type: "string", allOf: [{ pattern: "^a.*" }, { pattern: ".*b$" }] },
  ],
  ["date-time", timestamp(), { type: "string", format: "date-time" }],
  ["zod's date-time", z.iso.datetime(), { type: "string", format: "date-time" }],
  ["int or string", intOrString(), { "x-kubernetes-int-or-string": true }],
  [
    "set",
    field(z.array(z.string()), { listType: "set" }),
    { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
  ],
])("%s becomes structural", (_, schema, expected) => {
  expect(convert(schema)).toEqual(expected);
});

test("helpers carry what Kubernetes needs to merge and check them", () => {
  expect(convert(conditions())).toMatchObject({
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  });
  expect(convert(labelSelector())).toMatchObject({ type: "object", "x-kubernetes-map-type": "atomic" });
  expect(convert(embeddedObject())).toMatchObject({ type: "object", "x-kubernetes-embedded-resource": true });
  expect(convert(duration())).toMatchObject({ type: "string", format: "duration" });
});

test.each([
  [
    "a union of objects",
    z.object({ a: z.union([z.object({}), z.string()]) }),
    'field "spec.a" to Kubernetes: a union cannot be structural',
  ],
  [
    "a transform",
    z.object({ a: z.object({ b: z.string().transform(Number) }) }),
    'field "spec.a.b" to Kubernetes: a value on the wire',
  ],
  [
    "a bigint",
    z.object({ n: z.int64() }),
    'field "spec.n" to Kubernetes: small integers are numbers in JSON; use int64()',
  ],
  ["a tuple", z.tuple([z.string()]), "a tuple cannot be structural"],
  [
    "lookahead",
    z.object({ p: z.string().regex(/^(?=a)/) }),
    'field "spec.p" to Kubernetes: Kubernetes reads patterns as RE2',
  ],
  ["mixed literals", z.literal([1, "a"]), "must all be strings, all numbers or all booleans"],
])("%s is refused with its path", (_, schema, message) => {
  expect(() => convert(schema)).toThrow(message);
});

test("an integer of a status has no limit of numbers: the operator writes it", () => {
  expect(structuralFromZod(z.int(), "status")).toEqual({ type: "integer", format: "int64" });
});

test.each([
  [3, true],
  [2n ** 60n, true],
  [2n ** 63n, false],
  [2 ** 60, false],
  [0.5, false],
  ["3", false],
])("int64() takes a %o: %s", (value, isTaken) => {
  expect(int64().safeParse(value).success).toBe(isTaken);
});
