import type { HorizontalPodAutoscalerBehavior } from "@setpoint/api";
import { expect, test } from "vitest";
import { applyRules, type RuleInput } from "./scaling-rules.ts";

const nowMs = 10_000_000;
const ago = (seconds: number): number => nowMs - seconds * 1_000;

function input(current: number, recommended: number, more: Partial<RuleInput> = {}): RuleInput {
  const history = { recommendations: [], events: [] };
  return { behavior: undefined, current, recommended, min: 1, max: 20, history, nowMs, ...more };
}

const recommended = (...entries: readonly (readonly [seconds: number, replicas: number])[]) => ({
  history: { recommendations: entries.map(([seconds, replicas]) => ({ atMs: ago(seconds), replicas })), events: [] },
});
const changed = (...entries: readonly (readonly [seconds: number, change: number])[]) => ({
  history: { recommendations: [], events: entries.map(([seconds, change]) => ({ atMs: ago(seconds), change })) },
});
const up = (scaleUp: object): { behavior: HorizontalPodAutoscalerBehavior } => ({ behavior: { scaleUp } });
const down = (scaleDown: object): { behavior: HorizontalPodAutoscalerBehavior } => ({ behavior: { scaleDown } });
const pods = (value: number, periodSeconds = 60) => ({ type: "Pods", value, periodSeconds });
const share = (value: number, periodSeconds = 60) => ({ type: "Percent", value, periodSeconds });

test.each<[string, RuleInput, string]>([
  ["nothing to do", input(3, 3), "3 ReadyForNewScale DesiredWithinRange"],
  ["up", input(3, 5), "5 ReadyForNewScale DesiredWithinRange"],
  ["up to four at once", input(1, 9), "4 ReadyForNewScale ScaleUpLimit!"],
  ["at most twice", input(5, 20), "10 ReadyForNewScale ScaleUpLimit!"],
  ["to the maximum", input(15, 30), "20 ReadyForNewScale TooManyReplicas!"],
  ["to the minimum", input(5, 1, { min: 3 }), "3 ReadyForNewScale TooFewReplicas!"],
  ["down", input(5, 2), "2 ReadyForNewScale DesiredWithinRange"],
  ["down, more was needed lately", input(5, 2, recommended([200, 4])), "4 ScaleDownStabilized DesiredWithinRange"],
  ["down, more was needed long ago", input(5, 2, recommended([301, 4])), "2 ReadyForNewScale DesiredWithinRange"],
  [
    "a window of no length",
    input(5, 2, { ...down({ stabilizationWindowSeconds: 0 }), ...recommended([1, 5]) }),
    "2 ReadyForNewScale DesiredWithinRange",
  ],
  [
    "a window for growth",
    input(2, 6, { ...up({ stabilizationWindowSeconds: 60 }), ...recommended([30, 3]) }),
    "3 ScaleUpStabilized DesiredWithinRange",
  ],
  ["two pods a minute", input(3, 9, up({ policies: [pods(2)] })), "5 ReadyForNewScale ScaleUpLimit!"],
  [
    "two pods a minute, one came already",
    input(4, 9, { ...up({ policies: [pods(2)] }), ...changed([30, 1]) }),
    "5 ReadyForNewScale ScaleUpLimit!",
  ],
  [
    "one came earlier",
    input(4, 9, { ...up({ policies: [pods(2)] }), ...changed([61, 1]) }),
    "6 ReadyForNewScale ScaleUpLimit!",
  ],
  [
    "the larger policy counts",
    input(10, 20, up({ policies: [pods(2), share(50)] })),
    "15 ReadyForNewScale ScaleUpLimit!",
  ],
  [
    "the smaller one on request",
    input(10, 20, up({ policies: [pods(2), share(50)], selectPolicy: "Min" })),
    "12 ReadyForNewScale ScaleUpLimit!",
  ],
  ["growth is disabled", input(3, 9, up({ selectPolicy: "Disabled" })), "3 ReadyForNewScale ScaleUpLimit!"],
  [
    "one pod less a minute",
    input(9, 3, down({ policies: [pods(1)], stabilizationWindowSeconds: 0 })),
    "8 ReadyForNewScale ScaleDownLimit!",
  ],
  [
    "a tenth less, rounded down",
    input(9, 3, down({ policies: [share(10)], stabilizationWindowSeconds: 0 })),
    "8 ReadyForNewScale ScaleDownLimit!",
  ],
  ["shrinking is disabled", input(9, 3, down({ selectPolicy: "Disabled" })), "9 ReadyForNewScale ScaleDownLimit!"],
])("%s", (_, given, wanted) => {
  const { replicas, ability, limit } = applyRules(given);
  expect(`${replicas} ${ability.reason} ${limit.reason}${limit.isLimited ? "!" : ""}`).toBe(wanted);
});
