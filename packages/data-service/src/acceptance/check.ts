/**
 * One check of an acceptance run: steps that can each be repeated, so that a restarted operator goes on where
 * it was.
 */
import type { ReconcileContext, Stored } from "setpoint";
import type { AcceptanceCheckName, cleanUpName } from "../kinds/acceptance-check-names.ts";
import type { AcceptanceRun } from "../kinds/acceptance-run.ts";
import type { AnyAcceptance } from "./engine-acceptance.ts";

/** How a step ended. A step that waits is called again. */
export type StepReport =
  | { readonly state: "done" }
  | { readonly state: "waiting" | "failed" | "skipped"; readonly message: string };

/** What the steps of all checks work with. */
export interface SuiteContext {
  readonly run: Stored<AcceptanceRun>;
  readonly acceptance: AnyAcceptance;
  readonly api: ReconcileContext;
  /** The image of the operator, for the pods of clients. */
  readonly image: string | undefined;
}

/** What a step of one check works with. */
export interface CheckContext extends SuiteContext {
  /** What earlier steps of this check have noted. */
  readonly notes: Readonly<Record<string, string>>;
  note(name: string, value: string): void;
}

export type CheckStep = (context: CheckContext) => Promise<StepReport>;

/** A named check. It passes when all of its steps are done. */
export interface Check {
  readonly name: AcceptanceCheckName | typeof cleanUpName;
  /** A check that must have passed before; else this one is skipped. */
  readonly needs?: AcceptanceCheckName;
  readonly steps: readonly CheckStep[];
}

export const done: StepReport = { state: "done" };
export const waiting = (message: string): StepReport => ({ state: "waiting", message });
export const failed = (message: string): StepReport => ({ state: "failed", message });
export const skipped = (message: string): StepReport => ({ state: "skipped", message });
