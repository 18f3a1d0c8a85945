/** Values of which a schema says nothing: each is what kube-apiserver answered. */
import type { JsonObject, UnstructuredObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { applyPatch } from "./apply-patch.ts";
import { deducedAtom, rootAtomOf } from "./atom.ts";
import { validateApplied } from "./validate-applied.ts";

const either: StructuralSchema = { anyOf: [{ type: "integer" }, { type: "string" }] };
const schema: StructuralSchema = {
  type: "object",
  properties: {
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    port: { ...either, "x-kubernetes-int-or-string": true },
    text: { type: "string" },
  },
};

const faultsOf = (fields: JsonObject, of = schema): readonly string[] => validateApplied(rootAtomOf(of), fields);

test("any JSON can be applied below a field of which the schema says nothing", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => validateApplied(deducedAtom, { value }).length === 0));
});

test("a list in a list of a field without a schema is applied, and owned as a whole", () => {
  const free = { rows: [{ cells: [{ text: "a" }, [[1]]] }] };
  const patch: UnstructuredObject = { apiVersion: "e/v1", kind: "W", metadata: { name: "w" }, free };
  const common = { live: undefined, manager: "a", apiVersion: "e/v1", subresource: "", time: "t", force: false };
  const { object, managedFields } = applyPatch({ ...common, schema, patch });
  expect(object["free"]).toEqual(free);
  expect(managedFields[0]?.fieldsV1).toEqual({ "f:free": { "f:rows": {} } });
});

test("the default of a list in a CustomResourceDefinition may hold lists", () => {
  const crd = builtinResources().find(({ kind }) => kind === "CustomResourceDefinition");
  const rules = { type: "array", default: [{ matches: [{ path: { type: "Prefix" } }] }], enum: [[[{}]]] };
  const versions = [{ name: "v1", schema: { openAPIV3Schema: { type: "object", properties: { rules } } } }];
  expect(faultsOf({ spec: { versions } }, crd?.schema)).toEqual([]);
});

test("a number or text that is a list or a map is left to the validation, but not where a quantity stands", () => {
  expect(faultsOf({ port: { a: 1 } })).toEqual([]);
  expect(faultsOf({ port: [1] })).toEqual([]);
  const range = builtinResources().find(({ kind }) => kind === "LimitRange");
  const limits = [{ type: "Pod", max: { cpu: { a: 1 } } }];
  const why = ".spec.limits[0].max.cpu: expected any scalar, got &{map[a:1]}";
  expect(faultsOf({ spec: { limits } }, range?.schema)).toEqual([why]);
});

test("a list or a map where text is expected is shown as Go writes it", () => {
  const [list] = faultsOf({ text: [1, null, 1.5, "a"] });
  const shown = '[]interface {}{1, interface {}(nil), 1.5, "a"}';
  expect(list).toBe(`.text: expected string, got &value.valueUnstructured{Value:${shown}}`);
  const [map] = faultsOf({ text: { b: ["c"], a: true } });
  expect(map).toContain('{Value:map[string]interface {}{"a":true, "b":[]interface {}{"c"}}}');
});
