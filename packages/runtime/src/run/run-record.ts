import type { KindRef } from "@setpoint/client";

/** What happened to an object that woke a key. */
export type ChangeKind = "added" | "changed" | "deleted" | "enqueued";

/** One change of an object that woke a key. */
export interface Cause {
  readonly change: ChangeKind;
  readonly kind: KindRef;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly resourceVersion: string | undefined;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** The field manager of the newest entry of managedFields, where the cache keeps them. */
  readonly writer: string | undefined;
}

/** One write that a run has sent. */
export interface WriteRecord {
  readonly method: string;
  readonly path: string;
  /** The HTTP status; undefined: no answer yet, or none came. */
  status: number | undefined;
  /** The revision that it made. */
  resourceVersion: string | undefined;
}

/** One run of a key, as it is kept. */
export interface RunRecord {
  readonly key: string;
  readonly reconcileID: string;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  readonly causes: readonly Cause[];
  /** Causes beyond those that are kept. */
  readonly moreCauses: number;
  readonly writes: readonly WriteRecord[];
  readonly moreWrites: number;
  readonly endedMs: number | undefined;
  readonly end: string | undefined;
  /** What the run said of itself: the reason of a requeue, or the error. */
  readonly reason: string | undefined;
  readonly retryAtMs: number | undefined;
}
