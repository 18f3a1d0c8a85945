import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { hasConditions } from "./status-field.ts";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { PlannedOptions, StepFacts } from "./controller-options.ts";
import type { ConditionInit, ReconcileContext } from "./reconcile-context.ts";
import { awaitChange, requeueAfter, type Result } from "./result.ts";
import type { Rest, Step, Wait } from "./step.ts";

/** After the same step was planned again: at once the first time, then ever more slowly. */
const repeatDelayMs = 100;
const repeatDelayMsMax = 30_000;

type AnyStep = { readonly kind: "act"; readonly action: PropertyKey; readonly reason: string } | Rest | Wait;

/** What is remembered of a key between runs; only for pacing and for people, never for deciding. */
interface StepMemory {
  readonly step: string;
  readonly sinceMs: number;
  readonly repeats: number;
}

/** A reconcile that observes, plans, and performs the one step that the plan names. */
export function reconcilePlanned<T extends KubeObject, S, A extends object>(
  kind: KindRef<T>,
  options: PlannedOptions<T, S, A>,
): ControllerDefinition["reconcile"] {
  const memories = new Map<string, StepMemory>();
  const reportsProgress = hasConditions(kind);
  return async (object, context) => {
    const seen = await options.observe(object as Stored<T>, context);
    const step = options.plan(seen, context.clock.now());
    const memory = remember(memories, object.metadata.uid, step, context.clock.now());
    const again = planAgain(step, memory);
    if (reportsProgress) context.condition(progressing(step));
    await report(options, seen, step, factsOf(memory, again, context), context);
    if (step.kind !== "act") return again;
    // A step that is tried again is no news.
    if (memory.repeats === 0) context.event("Normal", reasonOf(step), step.reason);
    context.log.info("Planned a step", { step: step.action, args: step.args, reason: step.reason });
    return (await perform(options, seen, step, context)) ?? again;
  };
}

async function perform<T extends KubeObject, S, A extends object>(
  options: PlannedOptions<T, S, A>,
  seen: S,
  step: Extract<Step<A>, { kind: "act" }>,
  context: ReconcileContext,
): Promise<Result | void> {
  const handler = options.actions[step.action];
  return handler(step.args, context, seen);
}

function remember(memories: Map<string, StepMemory>, uid: string, step: AnyStep, nowMs: number): StepMemory {
  const text = JSON.stringify(step);
  const before = memories.get(uid);
  const isRepeated = before?.step === text;
  const memory = {
    step: text,
    sinceMs: isRepeated ? before.sinceMs : nowMs,
    repeats: isRepeated ? before.repeats + 1 : 0,
  };
  // At rest there is nothing to remember, so the map holds only what is being worked on.
  if (step.kind === "rest") memories.delete(uid);
  else memories.set(uid, memory);
  return memory;
}

function planAgain(step: AnyStep, memory: StepMemory): Result {
  if (step.kind === "rest")
    return step.recheckMs === undefined ? awaitChange() : requeueAfter(step.recheckMs, "look again");
  if (step.kind === "wait") return requeueAfter(step.delayMs, step.reason);
  const delayMs = memory.repeats === 0 ? 0 : Math.min(repeatDelayMs * 2 ** (memory.repeats - 1), repeatDelayMsMax);
  return requeueAfter(delayMs, "see what the step has changed");
}

function factsOf(memory: StepMemory, again: Result, context: ReconcileContext): StepFacts {
  const now = timestampOf(context.clock.now());
  const since = timestampOf(memory.sinceMs);
  if (again.kind === "awaitChange") return { now, since };
  return { now, since, nextTry: timestampOf(context.clock.now() + again.delayMs) };
}

function timestampOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** Says in the status what the plan is, before it is done: whoever looks during a long step sees it. */
async function report<T extends KubeObject, S, A extends object>(
  options: PlannedOptions<T, S, A>,
  seen: S,
  step: Step<A>,
  facts: StepFacts,
  context: ReconcileContext,
): Promise<void> {
  for (const condition of options.conditions?.(seen, step) ?? []) context.condition(condition);
  const status = options.status?.(seen, step, facts);
  if (status !== undefined) await context.status(status);
}

function progressing(step: AnyStep): ConditionInit {
  if (step.kind === "rest")
    return { type: "Progressing", status: "False", reason: "AsWanted", message: "Everything is as wanted" };
  return { type: "Progressing", status: "True", reason: reasonOf(step), message: step.reason };
}

/** A CamelCase reason: the action's name, or `Waiting`. */
function reasonOf(step: { readonly kind: "act"; readonly action: PropertyKey } | { readonly kind: "wait" }): string {
  if (step.kind === "wait") return "Waiting";
  const action = String(step.action);
  return action.charAt(0).toUpperCase() + action.slice(1);
}
