import type { ChangeKind } from "../run/run-record.ts";

/** Which object is asked about. */
export interface WhyQuery {
  /** A kind, its plural or its singular, in any case, with or without its group: `Candy`, `candies.example.com`. */
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  /** Where the manager works in several clusters. */
  readonly cluster?: string;
  /** Where several controllers reconcile the kind; default: the first. */
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
  /** Empty: it was there when the program began, or only time has passed. */
  readonly causes: readonly WhyCause[];
  /** Causes beyond those that are kept. */
  readonly moreCauses: number;
  /** `success`, `requeue`, `requeue_after` or `error`. */
  readonly result?: string;
  /** Why it is to run again, or what went wrong. */
  readonly reason?: string;
  readonly nextTryAt?: string;
  readonly writes: readonly WhyWrite[];
  readonly moreWrites: number;
}

/**
 * What the object's key does now: `running`; `settling`: its run has ended, and the cache does not show yet what it has written;
 * `ready` to run; `delayed` until a time; `idle`: only a change wakes it; `standby`: another process leads; `elsewhere`: another
 * member of the group owns it.
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
  /** When it runs next by itself. */
  readonly until?: string;
  /** What holds it back, as a sentence: a person has paused it, or a protection slows it down. */
  readonly held?: string;
  /** Runs in a row that failed. */
  readonly failures: number;
  /** The causes that the next run will get. */
  readonly pending: readonly WhyCause[];
  /** The newest first; empty when the last one is not among those that are remembered. */
  readonly runs: readonly WhyRun[];
  /** Runs of this controller are remembered since then. */
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
