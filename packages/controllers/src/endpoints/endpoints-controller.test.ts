import { Pod } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { endpoints } from "./endpoints-controller.ts";

type PodStatus = NonNullable<Pod["status"]>;

const condition = (type: string, status: "True" | "False") => ({ type, status });
const waiting: PodStatus = { phase: "Pending" };
const running: PodStatus = { phase: "Running", podIP: "10.0.0.1", conditions: [condition("Ready", "False")] };
const ready: PodStatus = { ...running, conditions: [condition("Ready", "True")] };
const scheduled: PodStatus = { phase: "Pending", conditions: [condition("PodScheduled", "True")] };
const resized: PodStatus = {
  ...ready,
  conditions: [...(ready.conditions ?? []), condition("PodResizePending", "True")],
};

function pod(status: PodStatus, metadata: object = {}, nodeName = "n1"): Stored<KubeObject> {
  const made = Pod({ name: "web-0", namespace: "default", labels: { app: "web" }, spec: { nodeName, containers: [] } });
  // The server's fields are of no interest here.
  return { ...made, metadata: { ...made.metadata, ...metadata }, status } as unknown as Stored<KubeObject>;
}

test.each([
  ["it gets a condition before it has an address", pod(waiting), pod(scheduled), false],
  ["it is bound before it has an address", pod(waiting, {}, ""), pod(waiting), false],
  ["it gets an address", pod(waiting), pod(running), true],
  ["it becomes ready", pod(running), pod(ready), true],
  ["it is ready no more", pod(ready), pod(running), true],
  ["it gets another condition", pod(ready), pod(resized), false],
  ["it gets an annotation", pod(ready), pod(ready, { annotations: { a: "b" } }), false],
  ["its labels change", pod(ready), pod(ready, { labels: { app: "other" } }), true],
  ["its address changes", pod(ready), pod({ ...ready, podIP: "10.0.0.2" }), true],
  ["its node changes", pod(ready), pod(ready, {}, "n2"), true],
  ["its deletion begins", pod(ready), pod(ready, { deletionTimestamp: "2026-01-01T00:00:00Z" }), true],
  ["it has finished", pod(ready), pod({ ...ready, phase: "Succeeded" }), true],
])("a pod's Services are reconciled if what they publish changes: %s", (_what, old, next, isWorthIt) => {
  const watch = endpoints.watches.find(({ of }) => of.kind === "Pod");
  expect(watch?.predicate?.(old, next)).toBe(isWorthIt);
});
