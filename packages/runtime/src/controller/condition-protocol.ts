/** What a declaration of conditions consists of, and what the runtime needs of one. */
import type { Condition } from "@setpoint/apimachinery";
import type { ConditionInit } from "./reconcile-context.ts";

type Status = Condition["status"];

/**
 * How a condition counts for `Ready`: `positive` when True is good, `negative` when False is, `informative`
 * not at all.
 */
export type Polarity = "positive" | "negative" | "informative";

/** One type of condition. */
export interface ConditionDeclaration {
  readonly polarity: Polarity;
  /** Every reason that the condition may have, with the status that it means. */
  readonly reasons: Readonly<Record<string, Status>>;
  /** Those reasons that nobody but a person can end. */
  readonly stalls?: readonly string[];
}

/** What the runtime needs of a declaration. */
export interface AnyConditionProtocol {
  /** The declared types, without the summarising ones. */
  readonly types: readonly string[];
  readonly declared: Readonly<Record<string, ConditionDeclaration>>;
  /**
   * Conditions for those of the declared types that are not there: unknown, but there from the first visit.
   */
  missing(present: readonly { readonly type: string }[]): readonly ConditionInit[];
  /** `Ready`, `Reconciling` and `Stalled`, as they follow from the others. */
  summary(conditions: readonly SummarizedCondition[], generation?: number): readonly ConditionInit[];
}

/** A condition as it is summed up; one of an older generation counts as unknown. */
export type SummarizedCondition = ConditionInit & { readonly observedGeneration?: number };
