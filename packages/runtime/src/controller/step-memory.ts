import { encodeJson } from "@setpoint/apimachinery";
import { awaitChange, requeueAfter, type Result } from "./result.ts";
import type { Rest, Wait } from "./step.ts";

/** After the same step was planned again: at once the first time, then ever more slowly. */
const repeatDelayMs = 100;
const repeatDelayMsMax = 30_000;

/** A step of any plan. */
export type AnyStep =
  | {
      readonly kind: "act";
      readonly action: PropertyKey;
      readonly args: unknown;
      readonly reason: string;
      readonly rule?: string;
    }
  | Rest
  | Wait;

/** The step that a plan is at. */
export interface PlannedStep {
  readonly text: string;
  /** What a person is shown of it. */
  readonly shown: { readonly step: string; readonly reason: string; readonly rule?: string } | undefined;
  readonly sinceMs: number;
  /** How often the same step was planned again. */
  readonly repeats: number;
}

/**
 * What is remembered of an object's plan between runs; only for pacing and for people, never for deciding.
 */
export interface StepMemory {
  step: PlannedStep | undefined;
}

/** Takes note of the planned step; returns what is known of it, and when to plan again. */
export function rememberStep(
  memory: StepMemory,
  step: AnyStep,
  nowMs: number,
): { readonly planned: PlannedStep; readonly again: Result } {
  const text = textOf(step);
  const known = memory.step?.text === text ? memory.step : undefined;
  const planned: PlannedStep =
    known === undefined
      ? { text, shown: shownOf(step), sinceMs: nowMs, repeats: 0 }
      : { ...known, repeats: known.repeats + 1 };
  memory.step = step.kind === "rest" ? undefined : planned;
  return { planned, again: planAgain(step, planned.repeats) };
}

function shownOf(step: AnyStep): PlannedStep["shown"] {
  if (step.kind === "rest") return undefined;
  const rule = step.rule === undefined ? {} : { rule: step.rule };
  return { step: step.kind === "wait" ? "wait" : String(step.action), reason: step.reason, ...rule };
}

/**
 * The same for equal steps; only what an author hands to an action can be anything, so only that is written
 * as JSON.
 */
function textOf(step: AnyStep): string {
  if (step.kind === "rest") return "rest";
  if (step.kind === "wait") return `wait ${step.delayMs}\n${step.reason}`;
  return `act ${String(step.action)}\n${step.reason}\n${encodeJson(step.args)}`;
}

function planAgain(step: AnyStep, repeats: number): Result {
  if (step.kind === "rest")
    return step.recheckMs === undefined ? awaitChange() : requeueAfter(step.recheckMs, "check again");
  if (step.kind === "wait") return requeueAfter(step.delayMs, step.reason);
  const delayMs = repeats === 0 ? 0 : Math.min(repeatDelayMs * 2 ** (repeats - 1), repeatDelayMsMax);
  return requeueAfter(delayMs, "see what the step has changed");
}
