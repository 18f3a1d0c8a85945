import { kindLaws } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster, EtcdMirror } from "./index.ts";

test("every cluster that the schema allows keeps the laws of kinds", () => {
  const { tried } = kindLaws(EtcdCluster, { runs: 1_000, samples: { "spec.version": ["3.4.30", "3.5.16"] } });
  expect(tried).toBeGreaterThan(100);
});

test("every mirror that the schema allows keeps the laws of kinds", () => {
  expect(kindLaws(EtcdMirror, { runs: 300 }).tried).toBeGreaterThan(30);
});
