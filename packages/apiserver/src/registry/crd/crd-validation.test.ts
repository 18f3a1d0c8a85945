import { invalid, type UnstructuredObject } from "@setpoint/apimachinery";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { celRuleCompiler } from "@setpoint/schema/cel";
import { expect, test } from "vitest";
import type { WriteContext } from "../resource-definition.ts";
import { createCrdStrategy, crdStrategy } from "./crd-strategy.ts";
import recorded from "./fixtures/invalid-crds.json" with { type: "json" };
import widgets from "./fixtures/widgets.json" with { type: "json" };

interface Case {
  readonly name: string;
  readonly manifest: UnstructuredObject;
  readonly status: { readonly message: string };
}

// The file holds what a real server said.
const cases = recorded as unknown as readonly Case[];

const context: WriteContext = {
  clock: new VirtualClock(seededRandom(1)),
  random: seededRandom(1),
  user: { username: "admin", groups: [] },
  subresource: "",
  dryRun: false,
  warn: () => {},
};

function messageFor(manifest: UnstructuredObject): string {
  const strategy = createCrdStrategy({ compileRules: celRuleCompiler });
  const object = structuredClone(manifest);
  strategy.setDefaults?.(object);
  strategy.prepareForCreate?.(object, context);
  const errors = strategy.validate?.(object, undefined, context) ?? [];
  const { message } = invalid(
    { group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" },
    object.metadata.name ?? "",
    errors,
  );
  return message.replace(/Invalid value: \{"type":"object".*\}: only/, "Invalid value: <schema>: only");
}

for (const { name, manifest, status } of cases)
  test(`refuses a CRD in the words of kube-apiserver: ${name}`, () => {
    expect(messageFor(manifest)).toBe(status.message);
  });

test("what the compiler of rules refuses is refused with its place in the CRD", () => {
  const error = {
    type: "FieldValueInvalid" as const,
    field: "properties[spec].x-kubernetes-validations[0].rule",
    message: "Invalid value",
  };
  const strategy = createCrdStrategy({ compileRules: () => ({ errors: [error], evaluate: () => [] }) });
  const object = structuredClone(widgets.manifest) as unknown as UnstructuredObject;
  strategy.setDefaults?.(object);
  strategy.prepareForCreate?.(object, context);
  const fields = strategy.validate?.(object, undefined, context).map((each) => each.field);
  expect(fields?.[0]).toBe("spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule");
});

const updated = (change: (spec: Record<string, unknown>) => void): readonly string[] => {
  const old = structuredClone(widgets.stored) as unknown as UnstructuredObject;
  const object = structuredClone(old);
  change(object["spec"] as Record<string, unknown>);
  crdStrategy.prepareForUpdate?.(object, old, context);
  return (crdStrategy.validate?.(object, old, context) ?? []).map((each) => `${each.field}: ${each.message}`);
};

test("the stored CRD of a real server is valid, and its scope cannot change any more", () => {
  expect(updated(() => {})).toEqual([]);
  expect(updated((spec) => Object.assign(spec, { scope: "Cluster" }))).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
  ]);
});
