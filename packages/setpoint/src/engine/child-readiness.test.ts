import type { KubeObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { readinessOf } from "./child-readiness.ts";

interface Shown {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

function read(type: string, shown: Shown): string {
  const [apiVersion, kind] = type.split(" ");
  const child = { apiVersion, kind, ...shown, metadata: { name: "web", generation: 2, ...shown.metadata } };
  const { kind: answer, why } = readinessOf(child as unknown as KubeObject);
  return why === "" ? answer : `${answer}: ${why}`;
}

const condition = (type: string, status: string, message = "") => ({ type, status, message });

test.each<[string, Shown, string]>([
  ["v1 ConfigMap", {}, "ready"],
  ["v1 ConfigMap", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }, "waiting: it is being deleted"],
  [
    "apps/v1 Deployment",
    { status: { observedGeneration: 1, updatedReplicas: 1, availableReplicas: 1 } },
    "waiting: its controller has not seen its newest spec",
  ],
  ["apps/v1 Deployment", { status: { observedGeneration: 2, updatedReplicas: 1, availableReplicas: 1 } }, "ready"],
  ["apps/v1 DaemonSet", { status: { desiredNumberScheduled: 3, numberAvailable: 3 } }, "ready"],
  [
    "apps/v1 DaemonSet",
    { status: { desiredNumberScheduled: 3, numberAvailable: 1 } },
    "waiting: 1 of 3 pods are available",
  ],
  ["batch/v1 Job", { status: { conditions: [condition("Complete", "True")] } }, "ready"],
  ["batch/v1 Job", { status: { conditions: [condition("Failed", "True", "too often")] } }, "failed: too often"],
  ["batch/v1 Job", { status: { conditions: [condition("Failed", "False")] } }, "waiting: it has not completed"],
  ["v1 Pod", { status: { phase: "Running", conditions: [condition("Ready", "False")] } }, "waiting: it is not ready"],
  ["v1 Pod", { status: { phase: "Succeeded" } }, "ready"],
  ["v1 Pod", { status: { phase: "Failed" } }, "failed: it has failed"],
  ["v1 PersistentVolumeClaim", { status: { phase: "Pending" } }, "waiting: it is not bound"],
  ["example.com/v1 Candy", { status: { conditions: [condition("Ready", "Unknown", "melting")] } }, "waiting: melting"],
  ["example.com/v1 Candy", { status: { conditions: [condition("Stalled", "True", "no sugar")] } }, "failed: no sugar"],
  ["example.com/v1 Candy", { status: { conditions: [condition("Reconciling", "True", "soon")] } }, "waiting: soon"],
])("a %s with %j is %s", (type, shown, wanted) => {
  expect(read(type, shown)).toBe(wanted);
});

test("a kind of others that has the name of a known one is read by its conditions", () => {
  expect(read("example.com/v1 Deployment", { status: { conditions: [condition("Ready", "True")] } })).toBe("ready");
  expect(read("apps/v1 Deployment", { status: { conditions: [condition("Ready", "True")] } })).toMatch(/^waiting: /);
});
