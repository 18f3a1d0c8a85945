import { Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { inDeletionOrder } from "./deletion-order.ts";

interface Row {
  readonly node?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly cost?: string;
  readonly restarts?: number;
  readonly created?: string;
}

function pod(name: string, row: Row = {}): Pod {
  const { node = "n", phase = "Running", ready = true, cost, restarts = 0, created = "2026-01-01T00:00:00Z" } = row;
  const annotations = cost === undefined ? {} : { "controller.kubernetes.io/pod-deletion-cost": cost };
  const made = Pod({ name, annotations, spec: { containers: [], ...(node === "" ? {} : { nodeName: node }) } });
  const conditions = [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: created }];
  const status = { phase, conditions, containerStatuses: [{ name: "c", restartCount: restarts }] };
  return { ...made, metadata: { ...made.metadata, creationTimestamp: created }, status } as unknown as Pod;
}

test.each<[string, Row, Row]>([
  ["one that no node has taken", { node: "" }, {}],
  ["one that is pending", { phase: "Pending" }, {}],
  ["one of an unknown phase", { phase: "Unknown" }, {}],
  ["one that is not ready", { ready: false }, {}],
  ["the cheaper one", { cost: "-5" }, { cost: "1" }],
  ["the one that was restarted more often", { restarts: 3 }, { restarts: 1 }],
  ["the newer one", { created: "2026-01-02T00:00:00Z" }, {}],
  ["one that is not ready, however dear", { ready: false, cost: "100" }, { cost: "1" }],
])("%s is deleted first", (_claim, first, last) => {
  const order = (...pods: readonly Pod[]): readonly unknown[] =>
    inDeletionOrder(pods).map(({ metadata }) => metadata.name);
  expect(order(pod("last", last), pod("first", first))).toEqual(["first", "last"]);
  expect(order(pod("first", first), pod("last", last))).toEqual(["first", "last"]);
});
