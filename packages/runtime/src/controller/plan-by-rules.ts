import type { Step } from "./step.ts";

/** One row of a plan. `S` is the snapshot, and `A` names the actions. */
export interface PlanRule<S, A extends object> {
  /** Shown to users beside the step: in the log, in `why`, and where the status shows it. */
  readonly name: string;
  /** Pure. Whether the rule is about this situation at all. */
  when(this: void, seen: S): boolean;
  /** Pure. What to do; undefined when nothing of it is due, and then the next rule is asked. */
  step(this: void, seen: S, nowMs: number): Step<A> | undefined;
}

/**
 * A plan as one list, read from top to bottom: the order is the policy. The first rule speaks that is about
 * the situation and has something to do, and the step carries its name.
 */
export function planByRules<S, A extends object>(
  rules: readonly PlanRule<S, A>[],
): (this: void, seen: S, nowMs: number) => Step<A> {
  return (seen, nowMs) => {
    for (const { name, when, step } of rules) {
      const chosen = when(seen) ? step(seen, nowMs) : undefined;
      if (chosen !== undefined) return { ...chosen, rule: name };
    }
    throw new Error("Cannot plan: no rule has a step; end the list with a rule that always has one, such as rest()");
  };
}
