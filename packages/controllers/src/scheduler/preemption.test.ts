import { PodDisruptionBudget, type Node, type Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { planPreemption } from "./preemption.ts";
import { asking, node, view } from "./scheduler.fixture.ts";

const running = (name: string, nodeName: string, cpu: string, priority: number, started = 0): Stored<Pod> => {
  const { metadata, ...rest } = asking({ cpu }, { nodeName, priority });
  const status = { startTime: `2026-01-01T00:00:0${started}Z` };
  return { ...rest, metadata: { ...metadata, name, uid: name, labels: { name } }, status };
};
const high = asking({ cpu: "2" }, { priority: 100 });
const never = asking({ cpu: "2" }, { priority: 100, preemptionPolicy: "Never" });
const huge = asking({ cpu: "100" }, { priority: 100 });
const small = asking({ cpu: "1" }, { priority: 100 });
const one = [node("n1")];
const two = [node("n1"), node("n2")];

function budget(name: string): PodDisruptionBudget {
  const init = PodDisruptionBudget({ name, namespace: "default", spec: { selector: { matchLabels: { name } } } });
  return { ...init, status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 } };
}

const none = (count: number, reason: string): string => `0/${count} nodes are available: ${count} ${reason}.`;

test.each<
  [string, Stored<Pod>, readonly Stored<Node>[], readonly Stored<Pod>[], readonly PodDisruptionBudget[], string]
>([
  ["a pod of lower priority ends", high, one, [running("a", "n1", "2", 1)], [], "n1: a"],
  [
    "one of equal priority does not",
    high,
    one,
    [running("a", "n1", "2", 100)],
    [],
    none(1, "No preemption victims found for incoming pod"),
  ],
  [
    "no pod's end helps",
    huge,
    one,
    [running("a", "n1", "1", 1)],
    [],
    none(1, "Preemption is not helpful for scheduling"),
  ],
  [
    "a pod that may not preempt",
    never,
    one,
    [running("a", "n1", "2", 1)],
    [],
    "not eligible due to preemptionPolicy=Never.",
  ],
  ["as few as possible end", small, one, [running("a", "n1", "1", 1), running("b", "n1", "1", 2)], [], "n1: a"],
  ["the longer one stays", small, one, [running("a", "n1", "1", 1, 1), running("b", "n1", "1", 1, 2)], [], "n1: b"],
  [
    "the node with the less important pod",
    high,
    two,
    [running("a", "n1", "2", 5), running("b", "n2", "2", 3)],
    [],
    "n2: b",
  ],
  [
    "the node with fewer victims",
    high,
    two,
    [running("a", "n1", "1", 1), running("b", "n1", "1", 1), running("c", "n2", "2", 1)],
    [],
    "n2: c",
  ],
  [
    "the node without a violated budget",
    high,
    two,
    [running("a", "n1", "2", 1), running("b", "n2", "2", 1)],
    [budget("a")],
    "n2: b",
  ],
])("%s", (_, pod, nodes, present, budgets, expected) => {
  const plan = planPreemption(pod, view(pod, nodes, present), budgets);
  const text =
    plan.kind === "none" ? plan.why : `${plan.node}: ${plan.victims.map(({ metadata }) => metadata.name).join(" ")}`;
  expect(text).toBe(expected);
});
