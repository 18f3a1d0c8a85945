import { expect, test } from "vitest";
import type { StructuralSchema, ValidationRule } from "../structural-schema.ts";
import compileErrors from "./fixtures/compile-errors.json" with { type: "json" };
import runCosts from "./fixtures/run-costs.json" with { type: "json" };
import results from "./fixtures/run-results.json" with { type: "json" };
import updates from "./fixtures/updates.json" with { type: "json" };
import { validateSchema } from "../validate-schema.ts";
import { celRuleCompiler } from "./index.ts";

function specWith(spec: object, rules: readonly ValidationRule[]): StructuralSchema {
  return { type: "object", properties: { spec: { ...(spec as StructuralSchema), "x-kubernetes-validations": rules } } };
}

const recorded = new Map(compileErrors.errors.map(({ index, message }) => [index, message]));

for (const [index, rule] of compileErrors.rules.entries())
  test(`compiles, or is refused in kube-apiserver's words: ${rule}`, () => {
    const schema = specWith(compileErrors.schema, [{ rule, message: "m" }]);
    expect(celRuleCompiler(schema).errors[0]?.message).toBe(recorded.get(index));
  });

for (const { rules, errors } of results.batches)
  test(`finds what kube-apiserver finds: ${rules.map(({ rule }) => rule).join("; ")}`, () => {
    const compiled = celRuleCompiler(specWith(results.schema, rules as readonly ValidationRule[]));
    expect(compiled.errors).toEqual([]);
    const object = { apiVersion: "cel.example.com/v1", kind: "X", metadata: { name: "o1" }, spec: results.object };
    const found = compiled.evaluate(object, undefined);
    expect(found.map(({ field, type, message }) => [field, type, message])).toEqual(errors);
  });

for (const { name, schema, steps } of updates)
  test(`checks creates and updates as kube-apiserver does: ${name}`, () => {
    const whole = schema as StructuralSchema;
    const rules = celRuleCompiler(whole);
    expect(rules.errors).toEqual([]);
    let old: unknown;
    for (const { spec, errors } of steps) {
      const object = { apiVersion: "cel.example.com/v1", kind: "X", metadata: { name: "o1" }, spec };
      const found = validateSchema(whole, object, { old, rules });
      const causes = found.map(({ field, type, message }) => `${field} ${type} ${message}`);
      // Upstream walks maps in random order.
      expect(causes.toSorted()).toEqual(errors.map((each) => each.join(" ")).toSorted());
      if (errors.length === 0) old = object;
    }
  });

const beyondLimit =
  "Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: m";

for (const { name, within, beyond } of runCosts.cases)
  test(`stops an expression at the cost at which kube-apiserver stops it: ${name}`, () => {
    const messages = (rule: string): readonly string[] => {
      const object = { apiVersion: "cel.example.com/v1", kind: "X", metadata: { name: "o1" }, spec: runCosts.object };
      const rules = celRuleCompiler(specWith(results.schema, [{ rule, message: "m" }]));
      return rules.evaluate(object, undefined).map(({ message }) => message);
    };
    expect(messages(within)).toEqual([]);
    expect(messages(beyond)).toEqual([beyondLimit]);
  });
