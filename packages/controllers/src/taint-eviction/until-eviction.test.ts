import { Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { untilEvictionMs, type SeenTaint } from "./until-eviction.ts";

const sinceMs = Date.parse("2026-01-01T00:00:00Z");
const nowMs = sinceMs + 60_000;
const key = "node.kubernetes.io/unreachable";
const unreachable: SeenTaint = { taint: { key, effect: "NoExecute" }, sinceMs };
const dedicated: SeenTaint = { taint: { key: "dedicated", value: "db", effect: "NoExecute" }, sinceMs };
const forever = { key, operator: "Exists", effect: "NoExecute" } as const;
const seconds = (tolerationSeconds: number) => ({ ...forever, tolerationSeconds });

test.each([
  ["no toleration", [unreachable], [], 0],
  ["a toleration of another value", [dedicated], [{ key: "dedicated", value: "web" }], 0],
  ["a toleration of five minutes", [unreachable], [seconds(300)], 240_000],
  ["two tolerations, of which the shorter counts", [unreachable], [seconds(300), seconds(90)], 30_000],
  ["a toleration that has run out", [unreachable], [seconds(30)], 0],
  ["a negative toleration", [unreachable], [seconds(-1)], 0],
  ["a toleration without end", [unreachable], [forever], undefined],
  ["one of two taints tolerated", [unreachable, dedicated], [forever], 0],
  [
    "two taints tolerated, one for a while",
    [unreachable, dedicated],
    [seconds(90), { key: "dedicated", value: "db" }],
    30_000,
  ],
  [
    "a taint that only repels new pods",
    [{ ...dedicated, taint: { key, effect: "NoSchedule" as const } }],
    [],
    undefined,
  ],
  ["no taint", [], [], undefined],
])("a pod with %s is evicted after its time", (_claim, taints, tolerations, expected) => {
  expect(untilEvictionMs(Pod({ name: "p", spec: { containers: [], tolerations } }), taints, nowMs)).toBe(expected);
});

test("the time of a pod that came later counts from its binding", () => {
  const bound = { type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-01T00:00:50Z" };
  const pod = {
    ...Pod({ name: "p", spec: { containers: [], tolerations: [seconds(30)] } }),
    status: { conditions: [bound] },
  };
  expect(untilEvictionMs(pod as Pod, [unreachable], nowMs)).toBe(20_000);
});
