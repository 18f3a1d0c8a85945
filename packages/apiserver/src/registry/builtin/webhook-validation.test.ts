import { readFileSync } from "node:fs";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { validatePolicy, validatePolicyBinding, validateWebhooks } from "./webhook-validation.ts";

interface Recorded {
  readonly name: string;
  readonly object: UnstructuredObject;
  /** `field: message`, as the real server's answer has them in `details.causes`. */
  readonly causes: readonly string[];
}

/** Recorded from kube-apiserver 1.36.3. */
const recorded = JSON.parse(
  readFileSync(new URL("webhook-validation.recorded.json", import.meta.url), "utf8"),
) as readonly Recorded[];

function validate(object: UnstructuredObject): ReturnType<typeof validatePolicy> {
  if (object.kind === "ValidatingAdmissionPolicy") return validatePolicy(object, undefined);
  if (object.kind === "ValidatingAdmissionPolicyBinding") return validatePolicyBinding(object);
  return validateWebhooks(object, undefined);
}

test.each(recorded)("$name is refused as a real server does", ({ object, causes }) => {
  expect(validate(object).map(({ field, message }) => `${field}: ${message}`)).toEqual(causes);
});

test("a policy names parameters, variables and reasons that there are", () => {
  const spec = {
    matchConstraints: {},
    paramKind: { kind: "X" },
    variables: [{ name: "1x", expression: "1" }],
    validations: [{ expression: "true", reason: "Unauthorized" }],
  };
  const policy = { apiVersion: "v1", kind: "ValidatingAdmissionPolicy", metadata: { name: "a" }, spec };
  expect(validatePolicy(policy, undefined).map(({ field, message }) => `${field}: ${message}`)).toEqual([
    "spec.paramKind.apiVersion: Required value",
    'spec.variables[0].name: Invalid value: "1x": must be a valid CEL identifier',
    'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
  ]);
});

test("what was stored once stays valid as long as it is not touched", () => {
  const [first] = recorded;
  if (first === undefined) throw new Error("nothing is recorded");
  expect(validateWebhooks(first.object, structuredClone(first.object))).toEqual([]);
});
