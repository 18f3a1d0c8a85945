import type { ChangeKind } from "../run/run-record.ts";

/** The object that `why` explains. */
export interface WhyQuery {
  /**
   * A kind, its plural or its singular, in any case, with or without its group: `Candy`,
   * `candies.example.com`.
   */
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  /** Needed when the manager works in several clusters. */
  readonly cluster?: string;
  /** Needed when several controllers reconcile the kind; default: the first. */
  readonly controller?: string;
}

/** One change that woke the object's key. Times are RFC 3339. */
export interface WhyCause {
  readonly change: ChangeKind;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly at: string;
  readonly resourceVersion?: string;
  /** The field manager that made the change, when it is known. */
  readonly writer?: string;
  /** The run of this operator that made the change. */
  readonly ownRun?: { readonly controller: string; readonly object: string; readonly reconcileID: string };
}

/** One write of a run, and the answer of the API server. */
export interface WhyWrite {
  readonly method: string;
  readonly path: string;
  /** `unknown`: no answer came. */
  readonly outcome: "done" | "refused" | "unknown";
  readonly status?: number;
  readonly resourceVersion?: string;
}

/** One reconcile of the object: its causes, its result and its writes. */
export interface WhyRun {
  readonly reconcileID: string;
  readonly startedAt: string;
  /** Absent while it runs. */
  readonly durationMs?: number;
  /** Empty: the object existed at the start of the program, or only time has passed. */
  readonly causes: readonly WhyCause[];
  /** Number of causes that were dropped. */
  readonly moreCauses: number;
  /** `success`, `requeue`, `requeue_after` or `error`. */
  readonly result?: string;
  /** Why the key runs again, or the error. */
  readonly reason?: string;
  readonly nextTryAt?: string;
  readonly writes: readonly WhyWrite[];
  readonly moreWrites: number;
}

/**
 * The state of the object's key. `running`; `settling`: its run has ended, and the cache does not show its
 * writes yet; `ready` to run; `delayed` until a time; `idle`: waits for a change; `standby`: another process
 * leads; `elsewhere`: another member of the group owns it.
 */
export type WhyState = "running" | "settling" | "ready" | "delayed" | "idle" | "standby" | "elsewhere";

/**
 * The answer of `manager.why`: the state of one object, its last runs and what happens next. Times are RFC
 * 3339.
 */
export interface WhyReport {
  readonly controller: string;
  /** Other controllers that reconcile the object too, each with an answer of its own. */
  readonly otherControllers?: readonly string[];
  readonly cluster?: string;
  readonly object: { readonly kind: string; readonly namespace?: string; readonly name: string };
  /** When another object was asked about: it belongs to `object`. */
  readonly askedFor?: { readonly kind: string; readonly name: string };
  /** Whether the cache shows the object. */
  readonly isPresent: boolean;
  readonly state: WhyState;
  readonly since?: string;
  /** When it runs next without a change. */
  readonly until?: string;
  /** What delays it, as a sentence: a user has paused it, or a protection slows it down. */
  readonly held?: string;
  /** The step that a planned controller is at, and the rule of its plan that chose it; absent at rest. */
  readonly plan?: { readonly step: string; readonly reason: string; readonly rule?: string; readonly since: string };
  /** Number of consecutive failed runs. */
  readonly failures: number;
  /** The causes that the next run will get. */
  readonly pending: readonly WhyCause[];
  /** The newest first; empty when the last run is no longer remembered. */
  readonly runs: readonly WhyRun[];
  /** The time from which on runs of this controller are remembered. */
  readonly rememberedSince?: string;
  /** The conditions of the object's status. */
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
    readonly lastTransitionTime?: string;
  }[];
}
