/**
 * The conditions of a kind as a declaration: which there are, what each may say, and how `Ready` follows from
 * them.
 */
import { SetpointError } from "@setpoint/apimachinery";
import { errConditions } from "../errors.ts";
import type { AnyConditionProtocol, ConditionDeclaration } from "../controller/condition-protocol.ts";
import type { ConditionInit } from "../controller/reconcile-context.ts";
import { summaryOf, summaryTypes } from "./summary-conditions.ts";

/** One type of condition of a declaration, with names that are checked against each other. */
type Checked<Type, D extends ConditionDeclaration> = Type extends "Ready" | "Reconciling" | "Stalled"
  ? never
  : D & { readonly stalls?: readonly (keyof D["reasons"])[] };

/** What a condition says: one of its reasons, and a sentence. */
export type Said<D extends ConditionDeclaration> = readonly [
  reason: Extract<keyof D["reasons"], string>,
  message: string,
];

/** The declared conditions of a kind: hand it to a controller as `health`. */
export interface ConditionProtocol<
  D extends Readonly<Record<string, ConditionDeclaration>>,
> extends AnyConditionProtocol {
  /**
   * All declared conditions at once: a forgotten one, or a reason that was not declared, does not compile.
   */
  of(said: { readonly [Type in keyof D]: Said<D[Type]> }): readonly ConditionInit[];
  /** One condition. */
  one<Type extends Extract<keyof D, string>>(type: Type, ...said: Said<D[Type]>): ConditionInit;
}

/**
 * Declares the conditions of a kind. The status of a condition follows from its reason, so the two cannot
 * contradict each other.
 *
 * Errors: `ERR_CONDITIONS` for a declared `Ready`, `Reconciling` or `Stalled`, which follow from the others,
 * and for a reason that stalls and was not declared.
 */
export function declareConditions<const D extends Readonly<Record<string, ConditionDeclaration>>>(
  declared: D & { readonly [Type in keyof D]: Checked<Type, D[Type]> },
): ConditionProtocol<D> {
  requireSound(declared);
  const types = Object.keys(declared);
  const one = (type: string, reason: string, message: string): ConditionInit => {
    const status = declared[type]?.reasons[reason];
    if (status !== undefined) return { type, status, reason, message };
    throw new SetpointError(errConditions, `Cannot set condition "${type}": it has no reason "${reason}"`);
  };
  return {
    types,
    declared,
    // The names are those of D by the types of the parameters.
    of: (said) => Object.entries<readonly [string, string]>(said).map(([type, each]) => one(type, ...each)),
    one,
    missing: (present) =>
      types
        .filter((type) => !present.some((each) => each.type === type))
        .map((type) => ({ type, status: "Unknown", reason: "NotYetKnown", message: "Not looked at yet" })),
    summary: (conditions, generation) => summaryOf(declared, conditions, generation),
  };
}

function requireSound(declared: Readonly<Record<string, ConditionDeclaration>>): void {
  for (const [type, { reasons, stalls = [] }] of Object.entries(declared)) {
    if (summaryTypes.has(type))
      throw new SetpointError(errConditions, `Cannot declare condition "${type}": it follows from the others`);
    const unknown = stalls.find((reason) => reasons[reason] === undefined);
    if (unknown !== undefined)
      throw new SetpointError(
        errConditions,
        `Cannot declare condition "${type}": it stalls by "${unknown}", which is none of its reasons`,
      );
  }
}
