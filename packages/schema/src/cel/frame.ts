/** The state of a run of an expression: its variables and its cost so far. */
import type { Value } from "./value.ts";

/** Thrown when an expression has used up what it may cost; nothing absorbs it. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

export class Frame {
  readonly variables: Value[];
  cost = 0;
  readonly #limit: number;

  /** `slots` is the room for variables, with those that the expression declares itself. */
  constructor(variables: readonly Value[], slots: number, limit: number) {
    this.variables = [...variables];
    while (this.variables.length < slots) this.variables.push(null);
    this.#limit = limit;
  }

  spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#limit) throw new CostExceeded();
  }
}

/** A part of an expression, ready to run. */
export type Step = (frame: Frame) => Value;
