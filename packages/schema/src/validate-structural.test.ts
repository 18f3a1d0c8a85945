import { expect, test } from "vitest";
import { defineKind, validateStructural, type StructuralSchema } from "./index.ts";
import answers from "./fixtures/structural-answers.json" with { type: "json" };
import { z } from "zod";

test.each(answers.map((one) => [JSON.stringify(one.schema), one] as const))(
  "validateStructural() answers %s as kube-apiserver 1.36 did",
  (_, { schema, errors }) => {
    const found = validateStructural(schema as unknown as StructuralSchema, "spec.validation.openAPIV3Schema");
    expect(new Set(found.map((error) => `${error.type} ${error.field}: ${error.message}`))).toEqual(new Set(errors));
  },
);

test("what defineKind makes is structural", () => {
  const names = { group: "examples.setpoint.dev", version: "v1", kind: "Gateway" };
  const Gateway = defineKind({ ...names, spec: z.object({ port: z.union([z.int(), z.string()]), any: z.unknown() }) });
  expect(Gateway.plural).toBe("gateways");
  expect(validateStructural(Gateway.schema)).toEqual([]);
});
