import type { KubeObject, Kind, ObjectOf } from "@setpoint/apimachinery";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  age,
  conditionColumn,
  conditions,
  defineKind,
  field,
  immutable,
  quantity,
  rule,
  type ValidationRule,
} from "./index.ts";

const PodSet = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "PodSet",
  shortNames: ["ps"],
  spec: z.object({
    replicas: z.int().min(0).max(100).default(1),
    engine: field(z.string().optional(), { immutable: true, description: "what runs" }),
    storage: z.object({ size: quantity() }).optional(),
  }),
  status: z.object({ replicas: z.int(), selector: z.string().optional(), conditions: conditions().optional() }),
  scale: { specReplicas: "replicas", statusReplicas: "replicas", selector: "selector" },
  printerColumns: {
    Desired: "spec.replicas",
    Size: { path: "spec.storage.size", priority: 1 },
    Ready: conditionColumn("Ready"),
    Age: age(),
  },
  selectableFields: ["spec.engine"],
  rules: [rule("self.spec.replicas <= oldSelf.spec.replicas + 10", "grow by at most 10 at a time")],
});
type PodSet = ObjectOf<typeof PodSet>;

test("a kind builds complete objects", () => {
  expect(PodSet({ name: "web", labels: { app: "web" }, spec: {} })).toEqual({
    apiVersion: "examples.setpoint.dev/v1",
    kind: "PodSet",
    metadata: { name: "web", labels: { app: "web" } },
    spec: { replicas: 1 },
  });
});

test("a wrong object is refused with every field's path", () => {
  expect(() => PodSet({ name: "web", spec: { replicas: 101, storage: { size: "big" } } })).toThrow(
    /Cannot make PodSet "web": spec.replicas: .*; spec.storage.size: /,
  );
  expect(() => PodSet.parse({ ...PodSet({ name: "a", spec: {} }), spec: { replica: 3 } })).toThrow(
    'Cannot make PodSet "a": spec.replica: the kind has no such field',
  );
  expect(() => PodSet.parse({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: {} })).toThrow(
    "it is v1 Pod, expected examples.setpoint.dev/v1 PodSet",
  );
});

test("the CustomResourceDefinition is complete", () => {
  const { metadata, spec } = PodSet.crd();
  expect(metadata).toEqual({ name: "podsets.examples.setpoint.dev" });
  expect(spec.names).toEqual({
    kind: "PodSet",
    listKind: "PodSetList",
    plural: "podsets",
    singular: "podset",
    shortNames: ["ps"],
  });
  const [version] = spec.versions;
  expect(version?.subresources).toEqual({
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  });
  expect(version?.additionalPrinterColumns).toEqual([
    { name: "Desired", type: "integer", jsonPath: ".spec.replicas" },
    { name: "Size", type: "string", jsonPath: ".spec.storage.size", priority: 1 },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ]);
  expect(version?.selectableFields).toEqual([{ jsonPath: ".spec.engine" }]);
  const schema = version?.schema.openAPIV3Schema;
  expect(schema?.["x-kubernetes-validations"]).toEqual([
    { rule: "self.spec.replicas <= oldSelf.spec.replicas + 10", message: "grow by at most 10 at a time" },
  ]);
  expect(schema?.properties?.["spec"]?.properties?.["engine"]).toEqual({
    type: "string",
    description: "what runs",
    "x-kubernetes-validations": [immutable()],
  });
});

test("the compiler checks specs, paths and columns against the schema", () => {
  expectTypeOf<PodSet["spec"]["replicas"]>().toEqualTypeOf<number>();
  expectTypeOf<ObjectOf<typeof PodSet>>().toExtend<KubeObject>();
  const kind: Kind<PodSet> = PodSet;
  expect(kind.plural).toBe("podsets");
  const podSet: PodSet = PodSet({ name: "web", spec: { replicas: 2 } });
  expect(() => {
    // @ts-expect-error objects are readonly
    Object.freeze(podSet.spec).replicas = 3;
  }).toThrow(TypeError);
  // @ts-expect-error the spec has no such field
  expect(() => PodSet({ name: "web", spec: { replica: 3 } })).toThrow("spec.replica");
  const names = { group: "examples.setpoint.dev", version: "v1", kind: "Policy", spec: z.object({ a: z.string() }) };
  // @ts-expect-error no field of the schema has this path
  expect(defineKind({ ...names, printerColumns: { A: "spec.b" } }).plural).toBe("policies");
  // @ts-expect-error a kind without a status has no field there
  defineKind({ ...names, selectableFields: ["status.a"] });
});

test("a field that contradicts its own options fails the definition", () => {
  const spec = z.object({ name: field(z.string(), { listType: "set" }) });
  expect(() => defineKind({ group: "examples.setpoint.dev", version: "v1", kind: "Odd", spec })).toThrow(
    'Cannot define kind "Odd": properties[spec].properties[name].type: Invalid value: "string": must be array',
  );
});

const gauge = (rules: readonly ValidationRule[]) =>
  defineKind({
    group: "examples.setpoint.dev",
    version: "v1",
    kind: "Gauge",
    spec: z.object({ low: z.int(), high: field(z.int(), { rules: [rule("self < 100", "at most 99")] }) }),
    rules,
  });

test("a rule that names a field that is not there stops the definition, and says where", () => {
  expect(() => gauge([rule("self.spec.hihg > 1", "odd")])).toThrow(
    `Cannot define kind "Gauge": rule [0] of the object: ERROR: <input>:1:10: undefined field 'hihg'
 | self.spec.hihg > 1
 | .........^`,
  );
  expect(() => gauge([rule("self.spec.high", "no bool")])).toThrow(
    'Cannot define kind "Gauge": rule [0] of the object: cel expression must evaluate to a bool',
  );
});

test("an object that breaks a rule is not built, and every broken rule is named", () => {
  const Gauge = gauge([
    rule("self.spec.low <= self.spec.high", "low may not exceed high"),
    rule("self.spec.low == oldSelf.spec.low", "low is immutable"),
  ]);
  expect(Gauge({ name: "a", spec: { low: 1, high: 2 } }).spec).toEqual({ low: 1, high: 2 });
  expect(() => Gauge({ name: "a", spec: { low: 200, high: 150 } })).toThrow(
    'Cannot make Gauge "a": low may not exceed high; spec.high: 150: at most 99',
  );
});
