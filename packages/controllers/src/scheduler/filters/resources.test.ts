import { expect, test } from "vitest";
import { asking, node, pod, verdicts, view } from "../scheduler.fixture.ts";
import { resourcesSuffice } from "./resources.ts";

const on = { nodeName: "n1" };

test.each([
  ["nothing", {}, [], "ok"],
  ["all of the CPU", { cpu: "2" }, [], "ok"],
  ["more CPU than the node has", { cpu: "100" }, [], "Insufficient cpu"],
  ["more CPU than is left", { cpu: "500m" }, [asking({ cpu: "1600m" }, on)], "Insufficient cpu"],
  ["CPU that a finished pod had", { cpu: "1" }, [finished(asking({ cpu: "2" }, on))], "ok"],
  ["too much of two", { cpu: "3", memory: "5Gi" }, [], "Insufficient cpu, Insufficient memory"],
  ["too much storage", { "ephemeral-storage": "11Gi" }, [], "Insufficient ephemeral-storage"],
  ["an extended resource", { "example.com/gpu": "1" }, [], "ok"],
  [
    "an extended resource that is taken",
    { "example.com/gpu": "1" },
    [asking({ "example.com/gpu": "1" }, on)],
    "Insufficient example.com/gpu",
  ],
  ["a resource that no node has", { "example.com/fpga": "1" }, [], "Insufficient example.com/fpga"],
  ["one pod too many", {}, [pod(on), pod(on), pod(on)], "Too many pods"],
] as const)("a pod that asks for %s", (_, requests, present, expected) => {
  const candidate = asking(requests);
  expect(verdicts(resourcesSuffice, candidate, view(candidate, [node("n1")], present))).toEqual([expected]);
});

test("the largest init container counts, and a sidecar counts with the containers", () => {
  const of = (cpu: string): object => ({ resources: { requests: { cpu } } });
  const main = { name: "main", ...of("1") };
  const heavy = pod({ containers: [main], initContainers: [{ name: "init", ...of("3") }] });
  const helped = pod({
    containers: [main],
    initContainers: [{ name: "side", restartPolicy: "Always", ...of("1500m") }],
  });
  for (const candidate of [heavy, helped])
    expect(verdicts(resourcesSuffice, candidate, view(candidate, [node("n1")]))).toEqual(["Insufficient cpu"]);
});

test("a pod that waits for its victims holds its place against pods of lower priority", () => {
  const waiting = asking({ cpu: "2" }, { priority: 10 });
  const nominated = { ...waiting, status: { nominatedNodeName: "n1" } };
  const low = asking({ cpu: "1" });
  const high = asking({ cpu: "1" }, { priority: 20 });
  expect(verdicts(resourcesSuffice, low, view(low, [node("n1")], [nominated]))).toEqual(["Insufficient cpu"]);
  expect(verdicts(resourcesSuffice, high, view(high, [node("n1")], [nominated]))).toEqual(["ok"]);
});

function finished<T extends object>(of: T): T {
  return { ...of, status: { phase: "Succeeded" } };
}
