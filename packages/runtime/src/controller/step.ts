/**
 * What a plan may answer. `A` names the actions and their arguments:
 * `interface Actions { addLearner: {}; promote: { id: string } }`.
 */
export type Step<A extends object> = Act<A> | Rest | Wait;

/** Do this one thing now, then look again. `reason` is a sentence for the user. */
export type Act<A extends object> = {
  readonly [Name in keyof A]: {
    readonly kind: "act";
    readonly action: Name;
    readonly args: A[Name];
    readonly reason: string;
    /** The rule of the plan that chose it; `planByRules` writes it. */
    readonly rule?: string;
  };
}[keyof A];

/**
 * Nothing is done: the desired state is reached, or else `stalled` says why nothing can be done about it.
 * Observe again after `recheckMs` when no watch would show a change.
 */
export interface Rest {
  readonly kind: "rest";
  readonly recheckMs?: number;
  readonly stalled?: StallReason;
  /** The rule of the plan that chose it. */
  readonly rule?: string;
}

/** Why a plan does nothing although the desired state is not reached. */
export interface StallReason {
  /** CamelCase, for conditions. */
  readonly reason: string;
  readonly message: string;
}

/** Something must happen elsewhere first, or a step is not safe now. */
export interface Wait {
  readonly kind: "wait";
  readonly reason: string;
  readonly delayMs: number;
  /** The rule of the plan that chose it. */
  readonly rule?: string;
}

/** Plans one action. `reason` is a sentence that the status shows to the user. */
export function act<A extends object, Name extends keyof A>(action: Name, args: A[Name], reason: string): Act<A> {
  // The union over all names cannot be rebuilt from a generic name.
  return { kind: "act", action, args, reason } as Act<A>;
}

/**
 * Plans nothing: desired state reached. `recheckMs` plans again later when no watch reports a change.
 * `stalled` says why it is not reached and nothing is done all the same: the spec is refused, the work has
 * failed for good, or a user has paused it; `Progressing=False` then has that reason and message.
 */
export function rest(recheckMs?: number, stalled?: StallReason): Rest {
  return {
    kind: "rest",
    ...(recheckMs === undefined ? {} : { recheckMs }),
    ...(stalled === undefined ? {} : { stalled }),
  };
}

/**
 * Plans nothing now, and plans again after `delayMs` milliseconds. `reason` says what the step waits for.
 */
export function wait(reason: string, delayMs: number): Wait {
  return { kind: "wait", reason, delayMs };
}
