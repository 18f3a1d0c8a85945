/** What decides about a ComplianceProbe; facts alone. */
import type { Stored } from "setpoint";
import type { Attempt } from "../acts/act.ts";
import type { AcceptedAct } from "../kind/accepted.ts";
import type { ComplianceProbe } from "../kind/compliance-probe.ts";

/** The pod of a run. */
export interface SeenRun {
  readonly name: string;
  readonly uid: string;
  readonly number: number;
  readonly generation: number;
  readonly requested: string | undefined;
  readonly startedAt: string;
  readonly isDeleting: boolean;
  /** Set when all of its containers have ended. */
  readonly finishedAt: string | undefined;
  /** What its containers reported, by act. */
  readonly attempts: ReadonlyMap<string, Attempt>;
  /** Why containers reported nothing, or why the pod does not start. */
  readonly problem: string | undefined;
}

export interface Seen {
  readonly probe: Stored<ComplianceProbe>;
  readonly nowMs: number;
  /** The newest one. */
  readonly run: SeenRun | undefined;
  readonly olderRuns: readonly string[];
  /** Of the spec and of the ConfigMap. */
  readonly accepted: readonly AcceptedAct[];
  /** Why the ConfigMap cannot be used. */
  readonly baselineProblem: string | undefined;
}
