import { expect, test } from "vitest";
import { type PlanRule, planByRules } from "./plan-by-rules.ts";
import { act, rest, wait } from "./step.ts";

interface Actions {
  readonly stir: Record<never, never>;
}

const rules: readonly PlanRule<number, Actions>[] = [
  { name: "tooMany", when: (seen) => seen > 3, step: () => wait("there are too many", 500) },
  { name: "stirring", when: () => true, step: (seen) => (seen < 3 ? act("stir", {}, "it is not mixed") : undefined) },
  { name: "done", when: () => true, step: () => rest() },
];

test.each([
  [5, { kind: "wait", rule: "tooMany" }],
  [1, { kind: "act", action: "stir", rule: "stirring" }],
  [3, { kind: "rest", rule: "done" }],
])("planByRules: with %i the first rule that has a step speaks, and the step carries its name", (seen, expected) => {
  expect(planByRules(rules)(seen, 0)).toMatchObject(expected);
});

test("planByRules: a list without a rule for the situation is a mistake, and says so", () => {
  expect(() => planByRules(rules.slice(0, 1))(1, 0)).toThrow("no rule has a step");
});
