import { Node } from "@setpoint/api";
import { expect, test } from "vitest";
import { unknownConditions, wantedTaints } from "./node-verdict.ts";

const now = "2026-01-01T00:01:00Z";

function node(ready: string, extra: readonly object[] = []): Node {
  const conditions = [{ type: "Ready", status: ready }, ...extra];
  return { ...Node({ name: "n1" }), status: { conditions } } as Node;
}

const told = (taints: ReturnType<typeof wantedTaints>): string[] =>
  taints.map(({ key, effect }) => `${key.split("/")[1]}:${effect}`);

test("every condition of a silent node is Unknown, with upstream's reasons", () => {
  expect(unknownConditions(node("True"), now).map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ["Ready", "Unknown", "NodeStatusUnknown"],
    ["MemoryPressure", "Unknown", "NodeStatusNeverUpdated"],
    ["DiskPressure", "Unknown", "NodeStatusNeverUpdated"],
    ["PIDPressure", "Unknown", "NodeStatusNeverUpdated"],
  ]);
  expect(unknownConditions(node("Unknown"), now).map(({ type }) => type)).not.toContain("Ready");
});

test.each([
  ["True", false, []],
  ["False", false, ["not-ready:NoSchedule", "not-ready:NoExecute"]],
  ["Unknown", false, ["unreachable:NoSchedule", "unreachable:NoExecute"]],
  ["Unknown", true, ["unreachable:NoSchedule"]],
])("a node whose Ready is %s (no node ready: %s) has the taints %j", (ready, isFullDisruption, expected) => {
  expect(told(wantedTaints(node(ready), isFullDisruption, now))).toEqual(expected);
});

test("a node that has said nothing yet keeps the taint that it was created with", () => {
  const taints = [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" as const }];
  expect(wantedTaints({ ...Node({ name: "n1" }), spec: { taints } }, true, now)).toEqual(taints);
});

test("a node under pressure of its disk takes no new pods, and taints of others stay", () => {
  const pressed = node("True", [{ type: "DiskPressure", status: "True" }]);
  const foreign = { key: "dedicated", effect: "NoExecute" as const };
  const taints = wantedTaints({ ...pressed, spec: { taints: [foreign] } }, false, now);
  expect(told(taints)).toEqual(["undefined:NoExecute", "disk-pressure:NoSchedule"]);
});

test("a cordoned node has the taint that daemon pods tolerate", () => {
  const cordoned = { ...node("True"), spec: { unschedulable: true } };
  expect(told(wantedTaints(cordoned, false, now))).toEqual(["unschedulable:NoSchedule"]);
  expect(told(wantedTaints({ ...cordoned, spec: { ...cordoned.spec, unschedulable: false } }, false, now))).toEqual([]);
});

test("the time of a taint stays while the taint does", () => {
  const taints = [
    { key: "node.kubernetes.io/unreachable", effect: "NoExecute" as const, timeAdded: "2026-01-01T00:00:00Z" },
  ];
  expect(wantedTaints({ ...node("Unknown"), spec: { taints } }, false, now)).toContainEqual(taints[0]);
});
