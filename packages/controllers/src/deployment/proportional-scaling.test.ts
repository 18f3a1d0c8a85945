import { expect, test } from "vitest";
import { isScaled, planScaling, type ScaledSet } from "./proportional-scaling.ts";

const set = (name: string, wanted: number, maxReplicas: number, available = wanted): ScaledSet => ({
  name,
  wanted,
  available,
  maxReplicas,
  desired: maxReplicas - 3,
  createdAt: name === "new" ? "2026-01-02T00:00:00Z" : "2026-01-01T00:00:00Z",
});

const state = { maxSurge: 3, isRolling: true, reportedReplicas: 13 };

test.each([
  // 8 and 5 of 10 + 3 become 20 and 13 of 30 + 3, as in upstream's conformance case.
  ["a rollout that grows keeps its proportions", 30, set("new", 5, 13, 0), [set("old", 8, 13)], { new: 13, old: 20 }],
  ["a rollout that shrinks keeps them too", 4, set("new", 5, 13, 0), [set("old", 8, 13)], { new: 3, old: 4 }],
  ["one more goes to the largest", 11, set("new", 5, 13, 0), [set("old", 8, 13)], { new: 5, old: 9 }],
  ["of equals the newer grows first", 11, set("new", 5, 13), [set("old", 5, 13)], { new: 9, old: 5 }],
  ["of equals the older shrinks first", 6, set("new", 5, 13), [set("old", 5, 13)], { new: 5, old: 4 }],
  ["nothing stays of a Deployment without replicas", 0, set("new", 5, 13), [set("old", 8, 13)], { new: 0, old: 0 }],
  ["the only set with pods gets all", 20, set("new", 0, 13), [set("old", 8, 13)], { old: 20 }],
  ["without pods the current set gets all", 2, set("new", 0, 13), [set("old", 0, 13)], { new: 2 }],
  [
    "without a current set the newest old one gets all",
    2,
    undefined,
    [set("older", 0, 13), set("old", 0, 13)],
    { old: 2 },
  ],
  ["a saturated set ends the others", 10, set("new", 10, 13), [set("old", 2, 13)], { new: 10, old: 0 }],
])("%s", (_claim, replicas, current, old, expected) => {
  expect(Object.fromEntries(planScaling({ ...state, replicas, current, old }))).toEqual(expected);
});

test("a set that says not what it was sized for is measured by what the Deployment reports", () => {
  const unknown = { ...set("old", 8, 13), maxReplicas: undefined };
  const sizes = planScaling({ ...state, replicas: 30, current: set("new", 5, 13, 0), old: [unknown] });
  expect(Object.fromEntries(sizes)).toEqual({ new: 13, old: 20 });
});

test("Recreate does not divide its replicas", () => {
  const sets = { current: set("new", 5, 13, 0), old: [set("old", 8, 13)] };
  expect(planScaling({ ...state, isRolling: false, replicas: 30, ...sets }).size).toBe(0);
});

test("a Deployment is scaled when a set with pods was sized for other replicas", () => {
  expect(isScaled(10, [set("a", 5, 13)])).toBe(false);
  expect(isScaled(11, [set("a", 5, 13)])).toBe(true);
  expect(isScaled(11, [set("a", 0, 13)])).toBe(false);
});
