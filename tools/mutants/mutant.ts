/** A wrong operator, its corrected twin, and the story in which the difference shows. */
import type { FaultKind, OperatorSource, Setting, Story, Subject } from "@setpoint/testing";

/** Which of the two is run. */
export type Variant = "mutant" | "twin";

export interface Mutant {
  /** `M1` … `M30`, or the name under which Sieve reported the bug. */
  readonly id: string;
  /** The template that it follows. */
  readonly template: string;
  /** What is wrong, in one sentence. */
  readonly bug: string;
  readonly story: Story;
  /** A mutant that does something on purpose all the time is not expected to be quiet. */
  readonly isBusy?: boolean;
  /**
   * Its bug is that it fails, without a fault; of all others that would mean that they do not what they are
   * meant to do.
   */
  readonly isFailing?: boolean;
  /** The faults in which it shows; default: all. */
  readonly faults?: readonly FaultKind[];
  /** Where the twin's users have to do something else. */
  readonly twinStory?: Story;
  operator(variant: Variant): OperatorSource;
  /** The world, where the operator alone does not say it. */
  setting?(variant: Variant): Setting;
}

/** What the explorer is given. */
export function subjectOf(mutant: Mutant, variant: Variant): Subject {
  return () => mutant.setting?.(variant) ?? { operators: [mutant.operator(variant)] };
}
