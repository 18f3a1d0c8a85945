import { conditions, defineKind, duration, field, intOrString, quantity, rule } from "@setpoint/schema";
import { expect, test } from "vitest";
import { z } from "zod";
import { kindLaws } from "./kind-laws.ts";

const group = "examples.setpoint.dev";
const spec = z.object({ replicas: z.int().min(0).max(100).default(1), color: z.enum(["red", "blue"]).optional() });

function withVersion(
  up: (spec: { size: number }) => { replicas?: number },
  down: (spec: { replicas: number }) => { size: number },
) {
  const versions = { v1beta1: { spec: z.object({ size: z.int().min(0).max(100) }), up, down } };
  return defineKind({ group, version: "v1", kind: "PodSet", spec, versions });
}

test("a kind whose functions undo each other keeps the laws", () => {
  const kind = withVersion(
    ({ size }) => ({ replicas: size }),
    ({ replicas }) => ({ size: replicas }),
  );
  expect(kindLaws(kind).tried).toBeGreaterThan(300);
});

test("a kind of many field types keeps the laws", () => {
  const kind = defineKind({
    group,
    version: "v1",
    kind: "Everything",
    spec: z.object({
      size: quantity(),
      every: duration().optional(),
      port: intOrString().optional(),
      ports: field(z.array(z.object({ name: z.string().max(8), port: z.int() })).max(5), {
        listType: "map",
        listMapKeys: ["name"],
      }).optional(),
      labels: z.record(z.string(), z.string()).optional(),
      limits: z.object({ min: z.int().default(1), max: z.int().default(5) }).default({ min: 1, max: 5 }),
    }),
    status: z.object({ conditions: conditions().optional() }),
    rules: [rule("self.spec.limits.min <= self.spec.limits.max", "min may not exceed max")],
  });
  const { tried, discarded } = kindLaws(kind);
  expect(tried).toBeGreaterThan(50);
  expect(discarded).toBeGreaterThan(0);
});

test("a conversion to something that is not valid is reported with the smallest object", () => {
  const kind = withVersion(
    ({ size }) => ({ replicas: size + 1 }),
    ({ replicas }) => ({ size: replicas - 1 }),
  );
  expect(() => kindLaws(kind)).toThrow(
    'PodSet examples.setpoint.dev/v1: as examples.setpoint.dev/v1beta1 it is not valid: spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0; the smallest object: {"spec":{"replicas":0}}',
  );
});

test("a function that throws is reported with what it threw for", () => {
  const kind = withVersion(
    ({ size }) => {
      if (size > 50) throw new Error("too large");
      return { replicas: size };
    },
    ({ replicas }) => ({ size: replicas }),
  );
  expect(() => kindLaws(kind)).toThrow(
    /its conversion throws too large; the smallest object: \{"spec":\{"replicas":5\d\}\}/,
  );
});

test("a field that cannot be guessed is named, and a sample helps", () => {
  const image = z.object({ image: z.string().regex(/^registry\.example\.com\/\w+:\d+$/) });
  const kind = defineKind({ group, version: "v1", kind: "Imaged", spec: image });
  expect(() => kindLaws(kind)).toThrow('no text is known for "spec.image"');
  expect(kindLaws(kind, { samples: { "spec.image": ["registry.example.com/web:1"] } }).tried).toBe(200);
});

test("the same seed tries the same objects", () => {
  const kind = withVersion(
    ({ size }) => ({ replicas: size }),
    ({ replicas }) => ({ size: replicas }),
  );
  expect(kindLaws(kind, { seed: 7, runs: 50 })).toEqual(kindLaws(kind, { seed: 7, runs: 50 }));
});
