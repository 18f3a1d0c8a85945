import type { Condition, KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { Clock, Logger, Random } from "@setpoint/host";
import type { Result } from "./result.ts";

export interface ListOptions {
  readonly namespace?: string;
  /** Labels that must all have these values. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Which object a precondition names; both are taken from an object that was read. */
export interface DeleteOptions {
  /** Also require that nothing has changed since `object` was read. Default: the UID alone. */
  readonly unchanged?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagation?: "Background" | "Foreground" | "Orphan";
}

/** A condition as an author states it; the times and the generation are filled in. */
export type ConditionInit = Pick<Condition, "type" | "status" | "reason" | "message">;

/**
 * What a reconcile can do. Reads come from the cache and are never older than this key's own writes; every write checks the
 * leader lease first and carries preconditions. The functions need no `this`, so they can be destructured.
 *
 * Errors: reads and writes of a kind that the controller neither reconciles, owns nor watches throw `ERR_NOT_DECLARED`.
 * Writes throw ApiError when refused and `ERR_OUTCOME_UNKNOWN` when no answer came; `outcome(write)` makes a value of it.
 */
export interface ReconcileContext {
  /** Aborts when the manager stops or loses its lease. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Under which name this controller's `apply` owns fields. */
  readonly fieldManager: string;
  /**
   * Everything else that the API can do (subresources, other kinds). Its writes check the lease too, but the barrier does not
   * know them: what they change may be read too old in the next run.
   */
  readonly client: Client;
  get<T extends KubeObject>(this: void, kind: KindRef<T>, name: string, namespace?: string): Stored<T> | undefined;
  list<T extends KubeObject>(this: void, kind: KindRef<T>, options?: ListOptions): readonly Stored<T>[];
  /** Children of the object being reconciled: those with a controller reference to its UID. */
  owned<T extends KubeObject>(this: void, kind: KindRef<T>): readonly Stored<T>[];
  /** Asks the server, not the cache. */
  fresh<T extends KubeObject>(
    this: void,
    kind: KindRef<T>,
    name: string,
    namespace?: string,
  ): Promise<Stored<T> | undefined>;
  /**
   * Server-side apply with this controller as field manager; sets the owner reference unless `owner: false`. Sends nothing
   * when the cache shows that it would change nothing.
   */
  apply<T extends KubeObject>(
    this: void,
    object: T,
    options?: { readonly owner?: boolean; readonly force?: boolean },
  ): Promise<Stored<T>>;
  /** Creates with the owner reference; AlreadyExists of an object that we own already counts as done. */
  create<T extends KubeObject>(this: void, object: T, options?: { readonly owner?: boolean }): Promise<Stored<T>>;
  /** JSON merge patch with the UID and, if `unchanged`, the resourceVersion of `object` as precondition. */
  patch<T extends KubeObject>(
    this: void,
    object: T,
    patch: unknown,
    options?: { readonly unchanged?: boolean },
  ): Promise<Stored<T>>;
  /** Deletes with the UID as precondition. An object that is gone already counts as done. */
  delete(this: void, object: KubeObject, options?: DeleteOptions): Promise<void>;
  /** Replaces the status (server-side apply on /status); writes nothing when it would not change. */
  status(this: void, status: object): Promise<void>;
  /** One condition of the reconciled object. Written together with `status`, at the latest at the end. */
  condition(this: void, condition: ConditionInit): void;
  /** Tells the user of the reconciled object; equal events become one with a count. */
  event(this: void, type: "Normal" | "Warning", reason: string, message: string): void;
  awaitChange(this: void): Result;
  requeueAfter(this: void, delayMs: number, why: string): Result;
}
