import { expect, test } from "vitest";
import type { StructuralSchema } from "../structural-schema.ts";
import compileErrors from "./fixtures/compile-errors.json" with { type: "json" };
import { celRuleCompiler } from "./index.ts";

const specWith = (rule: string, message: string): StructuralSchema => {
  const spec = { ...(compileErrors.schema as StructuralSchema), "x-kubernetes-validations": [{ rule, message }] };
  return { type: "object", properties: { spec } };
};

const recorded = new Map(compileErrors.errors.map(({ index, message }) => [index, message]));

for (const [index, rule] of compileErrors.rules.entries())
  test(`compiles, or is refused in kube-apiserver's words: ${rule}`, () => {
    const [error] = celRuleCompiler(specWith(rule, "m")).errors;
    expect(error?.message).toBe(recorded.get(index));
  });
