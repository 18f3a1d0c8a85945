import { awaitChange, requeueAfter, type Result } from "./result.ts";
import type { Rest, Wait } from "./step.ts";

/** After the same step was planned again: at once the first time, then ever more slowly. */
const repeatDelayMs = 100;
const repeatDelayMsMax = 30_000;

/** A step of any plan. */
export type AnyStep =
  | { readonly kind: "act"; readonly action: PropertyKey; readonly args: unknown; readonly reason: string }
  | Rest
  | Wait;

/** What is remembered of a key between runs; only for pacing and for people, never for deciding. */
export interface StepMemory {
  readonly step: string;
  readonly sinceMs: number;
  readonly repeats: number;
  /** When the key is planned anew at the latest. */
  readonly dueMs: number;
}

/** A key that was not planned anew for so long after it was due is no more: nobody says when an object goes in the middle of its work. */
const forgottenMs = 3_600_000;
/** From so many keys on it is looked for those that are no more, and again when there are twice as many as were left. */
const sweepSizeMin = 1_000;

/** What plans remember of the keys that are worked on, until these are at rest or gone. */
export class StepMemories {
  readonly #memories = new Map<string, StepMemory>();
  #sweepSize = sweepSizeMin;

  /** What is known of this step of the object, and when it is planned again. */
  remember(uid: string, step: AnyStep, nowMs: number): { readonly memory: StepMemory; readonly again: Result } {
    const text = textOf(step);
    const before = this.#memories.get(uid);
    const known = before?.step === text ? before : undefined;
    const repeats = known === undefined ? 0 : known.repeats + 1;
    const again = planAgain(step, repeats);
    const dueMs = nowMs + (again.kind === "awaitChange" ? 0 : again.delayMs);
    const memory = { step: text, sinceMs: known?.sinceMs ?? nowMs, repeats, dueMs };
    // At rest there is nothing to remember, so the map holds only what is being worked on.
    if (step.kind === "rest") this.#memories.delete(uid);
    else this.#memories.set(uid, memory);
    if (this.#memories.size >= this.#sweepSize) this.#sweep(nowMs);
    return { memory, again };
  }

  get size(): number {
    return this.#memories.size;
  }

  #sweep(nowMs: number): void {
    for (const [uid, { dueMs }] of this.#memories) if (nowMs - dueMs > forgottenMs) this.#memories.delete(uid);
    this.#sweepSize = Math.max(sweepSizeMin, 2 * this.#memories.size);
  }
}

/** The same for equal steps; only what an author hands to an action can be anything, so only that is written as JSON. */
function textOf(step: AnyStep): string {
  if (step.kind === "rest") return "rest";
  if (step.kind === "wait") return `wait ${step.delayMs}\n${step.reason}`;
  return `act ${String(step.action)}\n${step.reason}\n${JSON.stringify(step.args)}`;
}

function planAgain(step: AnyStep, repeats: number): Result {
  if (step.kind === "rest")
    return step.recheckMs === undefined ? awaitChange() : requeueAfter(step.recheckMs, "look again");
  if (step.kind === "wait") return requeueAfter(step.delayMs, step.reason);
  const delayMs = repeats === 0 ? 0 : Math.min(repeatDelayMs * 2 ** (repeats - 1), repeatDelayMsMax);
  return requeueAfter(delayMs, "see what the step has changed");
}
