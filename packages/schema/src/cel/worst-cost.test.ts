import { expect, test } from "vitest";
import type { StructuralSchema, ValidationRule } from "../structural-schema.ts";
import results from "./fixtures/run-results.json" with { type: "json" };
import worst from "./fixtures/worst-costs.json" with { type: "json" };
import { celRuleCompiler } from "./index.ts";

type Limits = Pick<StructuralSchema, "maxLength" | "maxItems" | "maxProperties">;

/** The schema with the same limits everywhere. */
function limited(schema: StructuralSchema, maxLength: number, maxItems: number): StructuralSchema {
  const { items, additionalProperties, properties } = schema;
  const below = (child: StructuralSchema): StructuralSchema => limited(child, maxLength, maxItems);
  const isMap = typeof additionalProperties === "object";
  const limits: Limits = {
    ...(schema.type === "string" && schema.format === undefined ? { maxLength } : {}),
    ...(schema.type === "array" ? { maxItems } : {}),
    ...(isMap ? { maxProperties: maxItems } : {}),
  };
  return {
    ...schema,
    ...limits,
    ...(items === undefined ? {} : { items: below(items) }),
    ...(isMap ? { additionalProperties: below(additionalProperties) } : {}),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, below(child)])) }),
  };
}

for (const { maxLength, maxItems, errors } of worst.cases)
  test(`refuses what kube-apiserver finds too expensive for texts of ${maxLength} and lists of ${maxItems}`, () => {
    const rules = worst.rules as readonly ValidationRule[];
    const spec = limited(results.schema as StructuralSchema, maxLength, maxItems);
    const schema: StructuralSchema = {
      type: "object",
      properties: {
        spec: { ...spec, "x-kubernetes-validations": rules },
        status: { type: "object", properties: { ok: { type: "boolean" } } },
      },
    };
    const found = celRuleCompiler(schema, "spec.validation.openAPIV3Schema").errors;
    expect(found.map(({ field, type, message }) => `${field} ${type} ${message}`).toSorted()).toEqual(errors);
  });

test("a list without a maximum multiplies the cost of the rules of its items by what fits in a request", () => {
  const item: StructuralSchema = {
    type: "string",
    "x-kubernetes-validations": [{ rule: "self.matches('^[a-z]+(-[a-z]+)*$')", message: "words" }],
  };
  const schema = (list: StructuralSchema): StructuralSchema => ({ type: "object", properties: { list } });
  const [error] = celRuleCompiler(schema({ type: "array", items: item })).errors;
  expect(error?.message).toContain("estimated rule cost exceeds budget by factor of more than 100x");
  const small = { type: "array", maxItems: 100, items: { ...item, maxLength: 63 } } as const;
  expect(celRuleCompiler(schema(small)).errors).toEqual([]);
});

test("what is an integer or a string costs what the string may cost, and no more", () => {
  const either: StructuralSchema = { "x-kubernetes-int-or-string": true };
  const errorsOf = (of: StructuralSchema, rule: string): readonly string[] => {
    const ruled: StructuralSchema = { ...of, "x-kubernetes-validations": [{ rule }] };
    return celRuleCompiler({ type: "object", properties: { of: ruled } }).errors.map(({ message }) => message);
  };
  expect(errorsOf(either, "quantity(string(self)).isGreaterThan(quantity('1'))")).toEqual([]);
  expect(errorsOf(either, "string(self).matches('^[0-9]+$')")).toEqual([]);
  const list: StructuralSchema = { type: "array", maxItems: 100, items: either };
  const [error] = errorsOf(list, "self.all(x, quantity(string(x)).isGreaterThan(quantity('1')))");
  expect(error).toContain("estimated rule cost exceeds budget by factor of 6.3x");
});
