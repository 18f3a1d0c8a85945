import type { ReconcileContext } from "./reconcile-context.ts";

/**
 * What a planned controller decided. `A` maps the names of actions to their arguments.
 * - `act`: perform one action now, then observe and plan again at once.
 * - `wait`: nothing can be done yet; look again after `delayMs` (or when something watched changes).
 * - `rest`: everything is as wanted; look again when something watched changes, or after `recheckMs` when given (for
 *   state that no watch shows).
 */
export type Step<A> =
  | {
      [Name in keyof A]: {
        readonly kind: "act";
        readonly action: Name;
        readonly args: A[Name];
        readonly reason: string;
      };
    }[keyof A]
  | { readonly kind: "wait"; readonly reason: string; readonly delayMs: number }
  | { readonly kind: "rest"; readonly recheckMs?: number };

/** The functions of a planned controller, beside its kind and what it owns (`AUTHORS` form 4). */
export interface PlannedForm<T, Seen, A> {
  /** Reads everything into one snapshot; performs no writes. */
  observe(object: T, context: ReconcileContext): Promise<Seen> | Seen;
  /** Pure. `nowMs` is the clock's wall time. */
  plan(seen: Seen, nowMs: number): Step<A>;
  /** Each is idempotent and decides nothing. Thrown errors retry with back-off; the next pass observes anew. */
  readonly actions: {
    readonly [Name in keyof A]: (args: A[Name], seen: Seen, context: ReconcileContext) => Promise<void>;
  };
  /** The status to show for what was seen and decided; pure. It is written (when it differs) before the action is performed. */
  status?(seen: Seen, step: Step<A>, nowMs: number): Record<string, unknown>;
}
