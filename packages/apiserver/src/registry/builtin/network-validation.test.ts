import type { UnstructuredObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { validateNetworkPolicy } from "./network-validation.ts";

test.each([
  [{ port: 80, endPort: 90 }, undefined],
  [{ port: 80 }, undefined],
  [{ port: 80, endPort: 70 }, "must be greater than or equal to `port`"],
  [{ port: "web", endPort: 70 }, "may not be specified when `port` is non-numeric"],
  [{ endPort: 70 }, "may not be specified when `port` is not specified"],
])("a policy for the ports %j", (port, problem) => {
  const policy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "a" } };
  const errors = validateNetworkPolicy({ ...policy, spec: { ingress: [{ ports: [port] }] } } as UnstructuredObject);
  const expected =
    problem === undefined ? [] : [expect.objectContaining({ field: "spec.ingress[0].ports[0].endPort" })];
  expect(errors).toEqual(expected);
  expect(JSON.stringify(errors)).toContain(problem ?? "[]");
});
