import { expect, test } from "vitest";
import { node, pod, verdicts, view } from "../scheduler.fixture.ts";
import { nodeAffinityMatched, type NodeSelectorTerm } from "./node-affinity.ts";

const nodes = [node("n1", { zone: "a", cpus: "4" }), node("n2", { zone: "b", cpus: "16" })];
const expression = (key: string, operator: string, ...values: string[]): NodeSelectorTerm =>
  ({ matchExpressions: [{ key, operator, values }] }) as NodeSelectorTerm;

test.each<[string, readonly NodeSelectorTerm[], string]>([
  ["In", [expression("zone", "In", "a", "c")], "n1"],
  ["NotIn", [expression("zone", "NotIn", "a")], "n2"],
  ["NotIn of a missing label", [expression("rack", "NotIn", "a")], "n1 n2"],
  ["Exists", [expression("zone", "Exists")], "n1 n2"],
  ["DoesNotExist", [expression("zone", "DoesNotExist")], ""],
  ["Gt", [expression("cpus", "Gt", "8")], "n2"],
  ["Lt", [expression("cpus", "Lt", "8")], "n1"],
  ["alternatives", [expression("zone", "In", "x"), expression("zone", "In", "b")], "n2"],
  ["the name of a node", [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }] }], "n2"],
  ["a term without anything", [{}], ""],
])("%s", (_, nodeSelectorTerms, expected) => {
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  const candidate = pod({ affinity: { nodeAffinity: required } });
  const found = verdicts(nodeAffinityMatched, candidate, view(candidate, nodes));
  expect(["n1", "n2"].filter((_name, i) => found[i] === "ok").join(" ")).toBe(expected);
});

test("a node selector needs all of its labels", () => {
  const candidate = pod({ nodeSelector: { zone: "a", cpus: "16" } });
  const reason = "node(s) didn't match Pod's node affinity/selector";
  expect(verdicts(nodeAffinityMatched, candidate, view(candidate, nodes))).toEqual([reason, reason]);
});
