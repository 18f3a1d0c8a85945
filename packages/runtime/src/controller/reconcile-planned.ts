import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { timestampAt } from "@setpoint/host";
import { hasConditions } from "./status-field.ts";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { PlannedOptions, StepFacts } from "./controller-options.ts";
import type { ConditionInit, ReconcileContext } from "./reconcile-context.ts";
import type { Result } from "./result.ts";
import type { Step } from "./step.ts";
import { rememberStep, type AnyStep, type PlannedStep } from "./step-memory.ts";

/** A reconcile that observes, plans, and performs the one step that the plan names. */
export function reconcilePlanned<T extends KubeObject, S, A extends object>(
  kind: KindRef<T>,
  options: PlannedOptions<T, S, A>,
): ControllerDefinition["reconcile"] {
  const reportsProgress = hasConditions(kind);
  return async (object, context, steps) => {
    const seen = await options.observe(object as Stored<T>, context);
    const step = options.plan(seen, context.host.clock.now());
    const { planned, again } = rememberStep(steps, step, context.host.clock.now());
    const facts = factsOf(planned, again, context);
    if (reportsProgress) context.condition(progressing(step, facts));
    await report(options, seen, step, facts, context);
    return (step.kind === "act" ? await act(options, seen, step, planned, context) : undefined) ?? again;
  };
}

function act<T extends KubeObject, S, A extends object>(
  options: PlannedOptions<T, S, A>,
  seen: S,
  step: Extract<Step<A>, { kind: "act" }>,
  { repeats }: PlannedStep,
  context: ReconcileContext,
): Promise<Result | void> {
  // A step that is tried again is no news.
  if (repeats === 0) context.event("Normal", reasonOf(step), step.reason);
  const rule = step.rule === undefined ? {} : { rule: step.rule };
  context.log.info("Planned a step", { step: step.action, args: step.args, reason: step.reason, ...rule });
  const handler = options.actions[step.action];
  return handler(step.args, context, seen);
}

function factsOf(planned: PlannedStep, again: Result, context: ReconcileContext): StepFacts {
  const now = timestampAt(context.host.clock.now());
  const since = timestampAt(planned.sinceMs);
  const outdated = context.controller.outdated();
  const facts = outdated === undefined ? { now, since } : { now, since, outdated };
  if (again.kind === "awaitChange") return facts;
  return { ...facts, nextTry: timestampAt(context.host.clock.now() + again.delayMs) };
}

/**
 * Writes the plan to the status before doing it. A user then sees it during a long step, and later plans can
 * rely on what the status records. When the server refuses the status, the step is not done.
 */
function report<T extends KubeObject, S, A extends object>(
  options: PlannedOptions<T, S, A>,
  seen: S,
  step: Step<A>,
  facts: StepFacts,
  context: ReconcileContext,
): Promise<void> | undefined {
  for (const condition of options.conditions?.(seen, step, facts) ?? []) context.condition(condition);
  const status = options.status?.(seen, step, facts);
  return status === undefined ? undefined : context.status(status);
}

const reached = { reason: "DesiredStateReached", message: "Desired state reached" };

function progressing(step: AnyStep, { outdated }: StepFacts): ConditionInit {
  if (outdated !== undefined)
    return { type: "Progressing", status: "Unknown", reason: "NotObserved", message: outdated };
  if (step.kind === "rest") return { type: "Progressing", status: "False", ...(step.stalled ?? reached) };
  return { type: "Progressing", status: "True", reason: reasonOf(step), message: step.reason };
}

/** A CamelCase reason: the action's name, or `Waiting`. */
function reasonOf(step: { readonly kind: "act"; readonly action: PropertyKey } | { readonly kind: "wait" }): string {
  if (step.kind === "wait") return "Waiting";
  const action = String(step.action);
  return action.charAt(0).toUpperCase() + action.slice(1);
}
