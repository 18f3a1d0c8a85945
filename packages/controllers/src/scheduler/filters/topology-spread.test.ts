import type { Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { node, pod, verdicts, view } from "../scheduler.fixture.ts";
import { topologySpread, type SpreadConstraint } from "./topology-spread.ts";

const nodes = [node("n1", { zone: "a" }), node("n2", { zone: "b" }), node("n3")];
const web = { app: "web" };
const on = (nodeName: string): Stored<Pod> => pod({ nodeName }, web);
const missing = "node(s) didn't match pod topology spread constraints (missing required label)";
const uneven = "node(s) didn't match pod topology spread constraints";

test.each<[string, readonly Stored<Pod>[], Partial<SpreadConstraint>, readonly string[]]>([
  ["none there", [], {}, ["ok", "ok", missing]],
  ["one in zone a", [on("n1")], {}, [uneven, "ok", missing]],
  ["one in zone a, and a skew of two", [on("n1")], { maxSkew: 2 }, ["ok", "ok", missing]],
  ["one in each", [on("n1"), on("n2")], {}, ["ok", "ok", missing]],
  ["one in each, and three zones asked for", [on("n1"), on("n2")], { minDomains: 3 }, [uneven, uneven, missing]],
  ["only preferred", [on("n1")], { whenUnsatisfiable: "ScheduleAnyway" }, ["ok", "ok", "ok"]],
  ["others do not count", [pod({ nodeName: "n1" })], {}, ["ok", "ok", missing]],
])("%s", (_, present, more, expected) => {
  const constraint = {
    topologyKey: "zone",
    maxSkew: 1,
    whenUnsatisfiable: "DoNotSchedule" as const,
    labelSelector: { matchLabels: web },
    ...more,
  };
  const candidate = pod({ topologySpreadConstraints: [constraint] }, web);
  expect(verdicts(topologySpread, candidate, view(candidate, nodes, present))).toEqual(expected);
});
