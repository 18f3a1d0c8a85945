import { expect, test } from "vitest";
import { node, pod, verdicts, view } from "../scheduler.fixture.ts";
import { taintsTolerated } from "./taints.ts";

const taint = { key: "dedicated", value: "db", effect: "NoSchedule" } as const;
const untolerated = "node(s) had untolerated taint(s)";

test.each([
  ["no toleration", [], { taints: [taint] }, untolerated],
  ["the same value", [{ key: "dedicated", value: "db" }], { taints: [taint] }, "ok"],
  ["another value", [{ key: "dedicated", value: "web" }], { taints: [taint] }, untolerated],
  ["any value", [{ key: "dedicated", operator: "Exists" }], { taints: [taint] }, "ok"],
  ["another effect", [{ key: "dedicated", operator: "Exists", effect: "NoExecute" }], { taints: [taint] }, untolerated],
  ["everything", [{ operator: "Exists" }], { taints: [taint], unschedulable: true }, "ok"],
  ["nothing, where pods are only not preferred", [], { taints: [{ ...taint, effect: "PreferNoSchedule" }] }, "ok"],
  ["nothing, on a cordoned node", [], { unschedulable: true }, "node(s) were unschedulable"],
] as const)("a pod that tolerates %s", (_, tolerations, spec, expected) => {
  const candidate = pod({ tolerations });
  expect(verdicts(taintsTolerated, candidate, view(candidate, [node("n1", {}, spec)]))).toEqual([expected]);
});
