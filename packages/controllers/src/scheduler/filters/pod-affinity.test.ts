import { expect, test } from "vitest";
import { node, pod, verdicts, view } from "../scheduler.fixture.ts";
import { podAffinityMatched, podAntiAffinityMatched } from "./pod-affinity.ts";

const nodes = [node("n1", { zone: "a" }), node("n2", { zone: "a" }), node("n3", { zone: "b" })];
const web = { app: "web" };
const required = (topologyKey: string, more: object = {}): object => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: web }, ...more }],
});
const present = pod({ nodeName: "n1" }, web);
const fitting = (found: readonly string[]): string => found.map((each) => (each === "ok" ? "+" : "-")).join("");

test.each([
  ["beside, on the node", required("kubernetes.io/hostname"), {}, "+--"],
  ["beside, in the zone", required("zone"), {}, "++-"],
  ["beside a pod of another namespace", required("zone", { namespaces: ["other"] }), {}, "---"],
  ["beside a pod of any namespace", required("zone", { namespaceSelector: {} }), {}, "++-"],
  ["beside, where no node has the label", required("rack"), {}, "---"],
])("%s", (_, podAffinity, labels, expected) => {
  const candidate = pod({ affinity: { podAffinity } }, labels);
  expect(fitting(verdicts(podAffinityMatched, candidate, view(candidate, nodes, [present])))).toBe(expected);
});

test("the first pod of a group that wants to be together fits anywhere", () => {
  const candidate = pod({ affinity: { podAffinity: required("zone") } }, web);
  expect(fitting(verdicts(podAffinityMatched, candidate, view(candidate, nodes)))).toBe("+++");
  const stranger = pod({ affinity: { podAffinity: required("zone") } });
  expect(verdicts(podAffinityMatched, stranger, view(stranger, nodes))[0]).toBe(
    "node(s) didn't match pod affinity rules",
  );
});

test("a pod is not placed beside one that it avoids, nor beside one that avoids it", () => {
  const shy = pod({ affinity: { podAntiAffinity: required("zone") } });
  expect(fitting(verdicts(podAntiAffinityMatched, shy, view(shy, nodes, [present])))).toBe("--+");
  const disliked = pod({}, web);
  const avoiding = pod({ nodeName: "n3", affinity: { podAntiAffinity: required("kubernetes.io/hostname") } });
  const found = verdicts(podAntiAffinityMatched, disliked, view(disliked, nodes, [avoiding]));
  expect(found).toEqual(["ok", "ok", "node(s) didn't satisfy existing pods anti-affinity rules"]);
});
