import { expect, test } from "vitest";
import { z } from "zod";
import { defineKind, field, rule } from "./index.ts";

const status = z.object({ ready: z.int() });

const PodSet = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "PodSet",
  spec: z.object({ replicas: z.int().default(1), paused: z.boolean().default(false) }),
  status,
  selectableFields: ["spec.paused"],
  versions: {
    v1beta1: {
      spec: z.object({ size: z.int(), note: z.string().optional() }),
      up: (spec) => ({ replicas: spec.size }),
      down: (spec) => ({ size: spec.replicas }),
      deprecated: "use v1",
      printerColumns: { Size: "spec.size" },
    },
  },
});

const group = "examples.setpoint.dev";
const old = (spec: object, metadata: object = {}): Parameters<typeof PodSet.convert>[0] => ({
  apiVersion: `${group}/v1beta1`,
  kind: "PodSet",
  metadata: { name: "web", ...metadata },
  ...{ spec },
});

test("an object is converted up and down by the author's functions", () => {
  const up = PodSet.convert(old({ size: 3 }), `${group}/v1`);
  expect(up).toEqual({ apiVersion: `${group}/v1`, kind: "PodSet", metadata: { name: "web" }, spec: { replicas: 3 } });
  expect(PodSet.convert(up, `${group}/v1beta1`)).toEqual(old({ size: 3 }));
});

test("what a version cannot say survives the way there and back, and a change on the way does too", () => {
  const hub = PodSet({ name: "web", spec: { replicas: 3, paused: true } });
  const down = PodSet.convert(hub, `${group}/v1beta1`);
  expect(down).toMatchObject({ spec: { size: 3 } });
  expect(PodSet.convert(down, `${group}/v1`)).toEqual(hub);
  const changed = { ...down, spec: { size: 5 } };
  expect(PodSet.convert(changed, `${group}/v1`)).toEqual(PodSet({ name: "web", spec: { replicas: 5, paused: true } }));
});

test("what only an old version has survives being stored, also when the stored object changes", () => {
  const stored = PodSet.convert(old({ size: 3, note: "mine" }), `${group}/v1`);
  expect(PodSet.convert(stored, `${group}/v1beta1`)).toEqual(old({ size: 3, note: "mine" }));
  const changed = { ...stored, spec: { replicas: 4 } };
  expect(PodSet.convert(changed, `${group}/v1beta1`)).toEqual(old({ size: 4, note: "mine" }));
});

test("a damaged annotation is as good as none", () => {
  const annotations = { "conversion.setpoint.dev/v1": "not JSON" };
  expect(PodSet.convert(old({ size: 2 }, { annotations }), `${group}/v1`)).toMatchObject({ spec: { replicas: 2 } });
});

test("the CRD has all versions, and serves those that have a conversion", () => {
  const alone = PodSet.crd().spec;
  expect(alone.versions.map(({ name, served, storage }) => [name, served, storage])).toEqual([
    ["v1", true, true],
    ["v1beta1", false, false],
  ]);
  expect(alone.conversion).toBeUndefined();
  const service = { namespace: "ops", name: "podsets", path: "/convert" };
  const { versions, conversion } = PodSet.crd({ conversion: { service } }).spec;
  expect(conversion).toEqual({
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { service } },
  });
  expect(versions[1]).toMatchObject({
    served: true,
    deprecated: true,
    deprecationWarning: "use v1",
    additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
  });
  expect(versions[1]?.selectableFields).toBeUndefined();
});

test("a version that a kind does not have, or has twice, is named", () => {
  expect(() => PodSet.convert(old({ size: 1 }), `${group}/v3`)).toThrow(
    'Cannot convert PodSet: it has no version "examples.setpoint.dev/v3", expected one of v1, v1beta1',
  );
  const spec = z.object({ a: z.string().optional() });
  const twice = { v1: { spec, up: () => ({}), down: () => ({}) } };
  expect(() => defineKind({ group, version: "v1", kind: "Twice", spec, versions: twice })).toThrow("is the kind's own");
});

test("rules of every version are checked when the kind is defined", () => {
  const spec = z.object({ a: field(z.string(), { rules: [rule("self.b", "never")] }) });
  const hub = z.object({ a: z.string() });
  const versions = { v1beta1: { spec, up: () => ({ a: "" }), down: () => ({ a: "" }) } };
  expect(() => defineKind({ group, version: "v1", kind: "Wrong", spec: hub, versions })).toThrow(
    /Cannot define kind "Wrong v1beta1": rule \[0\] of spec.a/,
  );
});

test("the compiler checks the functions against the schemas of both versions", () => {
  defineKind({
    group,
    version: "v1",
    kind: "Typed",
    spec: z.object({ replicas: z.int() }),
    versions: {
      v1beta1: {
        spec: z.object({ size: z.int() }),
        // @ts-expect-error the hub has no field "size"
        up: (spec) => ({ size: spec.size }),
        // @ts-expect-error v1 has no field "count"
        down: (spec) => ({ size: spec.count }),
      },
    },
  });
});
