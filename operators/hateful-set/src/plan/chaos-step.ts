/** What a HatefulSet may do next. */
import type { Step } from "setpoint";
import type { ActRecord } from "../kind/act-record.ts";

/** How it is done: `evict` asks the PodDisruptionBudgets, `delete` does not; `partition` makes the policy. */
export interface Blow {
  readonly method: "evict" | "delete" | "partition";
  readonly gracePeriodSeconds?: number;
}

export interface ChaosActions {
  readonly strike: { readonly act: ActRecord; readonly blow: Blow };
  /** A dry run. */
  readonly pretend: { readonly act: ActRecord };
  readonly recordRecovery: { readonly id: string; readonly seconds: number };
  /** A request finds nobody. */
  readonly decline: { readonly why: string };
  /** The act is not done, or its target is gone. */
  readonly withdraw: { readonly id: string; readonly why: string };
  /** Ends a fault that lasts. */
  readonly undo: { readonly policy: string };
  /** The target does not recover. */
  readonly abort: { readonly id: string; readonly why: string };
}

export type ChaosStep = Step<ChaosActions>;
