import type { Condition, Kind, KubeObject } from "@setpoint/apimachinery";
import type { Clock, Logger, Random } from "@setpoint/host";

/** How a write ended. `unknown`: no answer came, it may or may not have happened; doing it again is safe. */
export type WriteOutcome<T> =
  | { readonly kind: "done"; readonly object: T; readonly changed: boolean }
  | { readonly kind: "refused"; readonly error: Error }
  | { readonly kind: "unknown"; readonly error: Error };

/** When the key is to run again. Any watched change wakes it too. */
export type Result =
  | { readonly kind: "awaitChange" }
  | { readonly kind: "requeueAfter"; readonly delayMs: number; readonly why: string };

export interface ListOptions {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Which object a precondition names; both are taken from an object that was read. */
export interface DeleteOptions {
  /** Also require that nothing has changed since `object` was read. Default: the UID alone. */
  readonly unchanged?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagation?: "Background" | "Foreground" | "Orphan";
}

/**
 * What a reconcile can do. Reads come from the cache and are never older than this key's own writes; every write checks the
 * leader lease first and carries preconditions.
 *
 * Errors: reads throw `ERR_NOT_WATCHED` for kinds that the controller neither owns nor watches. Writes throw ApiError when
 * refused and `ERR_OUTCOME_UNKNOWN` when no answer came; the `try…` forms return a WriteOutcome instead.
 */
export interface ReconcileContext {
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  get<T extends KubeObject>(kind: Kind<T>, name: string, namespace?: string): T | undefined;
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): readonly T[];
  /** Children of the object being reconciled: those with a controller reference to its UID. */
  owned<T extends KubeObject>(kind: Kind<T>): readonly T[];
  /** Asks the server, not the cache. */
  fresh<T extends KubeObject>(kind: Kind<T>, name: string, namespace?: string): Promise<T | undefined>;
  /** Server-side apply with this controller as field manager; sets the owner reference unless `owner: false`. */
  apply<T extends KubeObject>(object: T, options?: { readonly owner?: boolean; readonly force?: boolean }): Promise<T>;
  /** Creates with the owner reference; AlreadyExists of an object that we own already counts as done. */
  create<T extends KubeObject>(object: T, options?: { readonly owner?: boolean }): Promise<T>;
  /** JSON merge patch with the UID and, if `unchanged`, the resourceVersion of `object` as precondition. */
  patch<T extends KubeObject>(object: T, patch: unknown, options?: { readonly unchanged?: boolean }): Promise<T>;
  /** Deletes with the UID as precondition. An object that is gone already counts as done. */
  delete(object: KubeObject, options?: DeleteOptions): Promise<void>;
  /** Replaces the status (server-side apply on /status); writes nothing when it would not change. */
  status(status: Record<string, unknown>): Promise<void>;
  /** One condition; lastTransitionTime and observedGeneration are filled in. Written together with `status`, at the latest at the end. */
  condition(condition: Pick<Condition, "type" | "status" | "reason" | "message">): void;
  event(type: "Normal" | "Warning", reason: string, message: string): void;
  awaitChange(): Result;
  requeueAfter(delayMs: number, why: string): Result;
}
