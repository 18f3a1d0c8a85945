import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { allOf, annotationsChanged, anyOf, changed, generationChanged, labelsChanged, not } from "./predicates.ts";

interface Box extends KubeObject {
  readonly spec: { readonly size: number; readonly door?: { readonly color: string } };
}

const base: Stored<Box> = {
  apiVersion: "example.com/v1",
  kind: "Box",
  metadata: {
    ...{ name: "b", uid: "1", resourceVersion: "1", creationTimestamp: "", generation: 1 },
    ...{ labels: { app: "x" }, annotations: { note: "n" } },
  },
  spec: { size: 1 },
} as Stored<Box>;

const withSpec = (spec: Box["spec"]): Stored<Box> => ({ ...base, spec });
const withMeta = (metadata: object): Stored<Box> => ({ ...base, metadata: { ...base.metadata, ...metadata } });

test.each([
  ["generation", generationChanged<Box>(), withMeta({ generation: 2 }), true],
  ["generation, of a status", generationChanged<Box>(), withMeta({ resourceVersion: "2" }), false],
  ["generation, of a kind without one", generationChanged<Box>(), withMeta({ generation: undefined }), true],
  ["a label", labelsChanged<Box>("app"), withMeta({ labels: { app: "y" } }), true],
  ["another label", labelsChanged<Box>("app"), withMeta({ labels: { app: "x", tier: "1" } }), false],
  ["any label", labelsChanged<Box>(), withMeta({ labels: { app: "x", tier: "1" } }), true],
  ["an annotation that goes", annotationsChanged<Box>("note"), withMeta({ annotations: {} }), true],
  ["a field", changed<Box>("spec.size"), withSpec({ size: 2 }), true],
  ["another field", changed<Box>("spec.size"), withSpec({ size: 1, door: { color: "red" } }), false],
  ["a field below an absent one", changed<Box>("spec.door.color"), withSpec({ size: 1, door: { color: "red" } }), true],
  ["an equal part", changed<Box>("spec"), withSpec({ size: 1 }), false],
  ["either", anyOf(changed<Box>("spec.size"), labelsChanged<Box>()), withSpec({ size: 2 }), true],
  ["both", allOf(changed<Box>("spec.size"), labelsChanged<Box>()), withSpec({ size: 2 }), false],
  ["not", not(changed<Box>("spec.size")), withSpec({ size: 2 }), false],
])("a predicate on %s", (_what, predicate, next, isWorth) => {
  expect(predicate(base, next)).toBe(isWorth);
});
