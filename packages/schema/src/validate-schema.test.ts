import { expect, test } from "vitest";
import { applyDefaults, decode, validateSchema, type RuleEvaluator, type StructuralSchema } from "./index.ts";
import ratcheting from "./fixtures/ratcheting-answers.json" with { type: "json" };
import answers from "./fixtures/validation-answers.json" with { type: "json" };

/** The recorded schema has rules that always hold in the cases; what they print is not the subject here. */
const holds: RuleEvaluator = { errors: [], evaluate: () => [] };
const recorded = answers.schema as unknown as StructuralSchema;
const textOf = (error: { type: string; field: string; message: string }): string =>
  `${error.type} ${error.field}: ${error.message}`;

test.each(answers.cases.map((one) => [JSON.stringify(one.spec), one] as const))(
  "validateSchema() answers %s as kube-apiserver 1.36 did",
  (_, { spec, errors }) => {
    const object = { apiVersion: "ex.com/v1", kind: "Val", metadata: { name: "x" }, spec };
    const { value } = decode(recorded, object, { unknown: "prune", wrongTypes: "keep" });
    applyDefaults(recorded, value);
    const found = validateSchema(recorded, value, { rules: holds }).map(textOf);
    // The server walks Go maps, so its order is not stable.
    expect(new Set(found)).toEqual(new Set(errors));
    expect(found).toHaveLength(errors.length);
  },
);

test.each(ratcheting.cases.map((one) => [JSON.stringify(one.spec), one] as const))(
  "an update to %s under a schema that became tighter is answered as by kube-apiserver 1.36",
  (_, { spec, errors }) => {
    const schema = ratcheting.schema as unknown as StructuralSchema;
    const found = validateSchema(schema, { spec }, { old: { spec: ratcheting.old } }).map(textOf);
    expect(new Set(found)).toEqual(new Set(errors));
  },
);

const list: StructuralSchema = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 2 },
    members: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["id"],
      items: { type: "object", properties: { id: { type: "string" }, size: { type: "integer", maximum: 3 } } },
    },
  },
};

test("an update is not blamed for what was wrong before and has not changed", () => {
  const old = { name: "long", members: [{ id: "a", size: 9 }] };
  const next = {
    name: "long",
    members: [
      { id: "b", size: 8 },
      { id: "a", size: 9 },
    ],
  };
  expect(validateSchema(list, next, { old }).map((error) => error.field)).toEqual(["members[0].size"]);
  expect(validateSchema(list, next).map((error) => error.field)).toEqual([
    "name",
    "members[0].size",
    "members[1].size",
  ]);
});

test("duplicates that were stored before do not stop an update", () => {
  const twice = { members: [{ id: "a" }, { id: "a" }] };
  expect(validateSchema(list, { ...twice, name: "x" }, { old: twice })).toEqual([]);
  expect(validateSchema(list, twice, { old: { members: [] } }).map(textOf)).toEqual([
    'FieldValueDuplicate members[1]: Duplicate value: {"id":"a"}',
  ]);
});

test("rules run only over an object that is valid so far", () => {
  const schema: StructuralSchema = { ...list, "x-kubernetes-validations": [{ rule: "false" }] };
  const failed = { type: "FieldValueInvalid", field: "", message: "Invalid value: failed rule: false" } as const;
  const rules: RuleEvaluator = { errors: [], evaluate: () => [failed] };
  expect(validateSchema(schema, { name: "x" }, { rules })).toEqual([failed]);
  expect(validateSchema(schema, { name: "long" }, { rules }).map((error) => error.field)).toEqual(["name", "<nil>"]);
});

test("a field that is declared has its own schema, every other one that of the rest, also when it was seen before", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: { count: { type: "integer" } },
    additionalProperties: { type: "string" },
  };
  for (const value of [
    { count: 1, constructor: "x" },
    { count: "1", constructor: 2 },
    { count: "1", constructor: 2 },
  ]) {
    const wrong = typeof value.count === "string" ? ["count", "constructor"] : [];
    expect(validateSchema(schema, value).map(({ field }) => field)).toEqual(wrong);
  }
});

test("a schema may contain itself", () => {
  const properties: Record<string, StructuralSchema> = { name: { type: "string" } };
  const schema: StructuralSchema = { type: "object", properties };
  properties["below"] = schema;
  const value = { name: "a", below: { name: "b", below: { name: 3 } } };
  expect(validateSchema(schema, value).map(({ field }) => field)).toEqual(["below.below.name"]);
});
