import type { Condition, KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { Clock, Logger, Random } from "@setpoint/host";
import type { Json } from "./ledger.ts";
import type { Result } from "./result.ts";
import type { ListOptions } from "./watch-definition.ts";

/** Which object a precondition names; both are taken from an object that was read. */
export interface DeleteOptions {
  /** Also require that nothing has changed since `object` was read. Default: the UID alone. */
  readonly unchanged?: boolean;
  /**
   * Do not retry when the server is busy: throw, so that the key runs again and decides on what it reads
   * then.
   */
  readonly once?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagation?: "Background" | "Foreground" | "Orphan";
}

/** Options of a server-side apply. */
export interface ApplyOptions {
  /** Whether the child belongs to the reconciled object; default true. */
  readonly owner?: boolean;
  /** Whether fields that another manager owns are taken over; default true. */
  readonly force?: boolean;
}

/** Options of a create. */
export interface CreateOptions {
  /** Whether the child belongs to the reconciled object; default true. */
  readonly owner?: boolean;
}

/** Preconditions and retries of a patch. */
export interface PatchOptions {
  /** Also require that nothing has changed since `object` was read. Default: the UID alone. */
  readonly unchanged?: boolean;
  /**
   * Do not retry when the server is busy: throw, so that the key runs again and decides on what it reads
   * then.
   */
  readonly once?: boolean;
}

/**
 * How a child that exists and differs is updated: in place, deleted and recreated, or only after a user has
 * deleted it.
 */
export type ChildUpdate = "InPlace" | "Recreate" | "OnDelete";

/** How `applySet` updates the children that exist and differ. */
export interface ApplySetOptions {
  /** Default: `InPlace`. */
  update?(this: void, child: KubeObject): ChildUpdate;
}

/** `postponed`: the reconciled object has changed meanwhile, so nothing was deleted; its change runs the key again. */
export type PruneOutcome =
  | { readonly kind: "done"; readonly deleted: number }
  | { readonly kind: "postponed"; readonly reason: string };

/** How an effect is done, and how it is found again. */
export interface Effect<R extends Json> {
  /**
   * Whether it has happened, and its result: asked before every attempt. It must see everything that `do` has ever done under
   * this key; an API that takes time to show it must be waited for here.
   */
  find(key: string): Promise<R | undefined>;
  /** Does it. Hand the key on, when the API outside takes an idempotency key: it closes the last gap (a request under way). */
  do(key: string): Promise<R>;
}

/** Options of `step`. */
export interface StepOptions {
  /** What the procedure belongs to; when it changes, all steps are to be done again. Default: the object's generation. */
  readonly of?: string;
}

/** A condition as an author states it; the times and the generation are filled in. */
export type ConditionInit = Pick<Condition, "type" | "status" | "reason" | "message">;

/** The status of a kind's objects as an author writes it: without its conditions, which the framework keeps. */
export type StatusInit<T extends KubeObject> = "status" extends keyof T
  ? Omit<NonNullable<T["status"]>, "conditions"> & { readonly conditions?: readonly Condition[] }
  : object;

/**
 * What a reconcile can do. Reads come from the cache and are never older than this key's own writes. Every
 * write first checks the leader lease and carries preconditions. The functions need no `this`, so they can be
 * destructured.
 *
 * Errors: reads and writes of a kind that the controller neither reconciles, owns nor watches throw
 * `ERR_NOT_DECLARED`. A write throws ApiError when the server refuses it, `ERR_NOT_OWNED` when the object
 * belongs to another owner, and `ERR_OUTCOME_UNKNOWN` when no answer came. `outcome(write)` returns these as
 * a value.
 */
export interface ReconcileContext<Status extends object = object> {
  /** Aborts when the manager stops or loses its lease. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Under which name this controller's `apply` owns fields. */
  readonly fieldManager: string;
  /**
   * Everything else that the API can do (subresources, other kinds). Its writes check the lease too. Those of objects that the
   * controller's caches hold are seen by its reads and waited for as all others; the protection against hot loops knows them all. The
   * controller's `limits` do not count them, nor does the one against fights over fields.
   */
  readonly client: Client;
  /** The name of the object's cluster, where the manager works in several. */
  readonly cluster: string | undefined;
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
   * Why what these reads show may be old: a kind that this account may not read any more, or of which the server has said nothing for
   * five minutes; undefined while all are followed. The text changes with the cause alone, so a status can carry it.
   */
  outdated(this: void): string | undefined;
  /**
   * Server-side apply with this controller as field manager; sets the owner reference unless `owner: false`. Sends nothing
   * when the cache shows that it would change nothing.
   */
  apply<T extends KubeObject>(this: void, object: T, options?: ApplyOptions): Promise<Stored<T>>;
  /**
   * Applies all children and then deletes those that this controller applied earlier and that are not among them. A refused
   * child does not keep the others from being applied; then nothing is deleted and the refusals are thrown.
   */
  applySet(this: void, children: readonly KubeObject[], options?: ApplySetOptions): Promise<PruneOutcome>;
  /** Deletes the children that this controller applied earlier and did not apply in this run. */
  prune(this: void): Promise<PruneOutcome>;
  /** Creates with the owner reference; AlreadyExists of an object that we own already counts as done. */
  create<T extends KubeObject>(this: void, object: T, options?: CreateOptions): Promise<Stored<T>>;
  /**
   * JSON merge patch with the UID and, if `unchanged`, the resourceVersion of `object` as precondition. They are looked up for an
   * object that was not read, as in `delete`.
   */
  patch<T extends KubeObject>(this: void, object: T, patch: unknown, options?: PatchOptions): Promise<Stored<T>>;
  /**
   * Deletes with the UID of `object` as precondition. One that was not read but only named is the one that the cache shows under this
   * name, or else the server; a namesake that comes meanwhile stays. An object that is gone already counts as done.
   */
  delete(this: void, object: KubeObject, options?: DeleteOptions): Promise<void>;
  /** Replaces the status (server-side apply on /status); writes nothing when it would not change. */
  status(this: void, status: Status): Promise<void>;
  /** Conditions of the reconciled object. Written together with `status`, at the latest at the end. */
  condition(this: void, ...conditions: readonly ConditionInit[]): void;
  /** Tells the user of the reconciled object; equal events become one with a count. */
  event(this: void, type: "Normal" | "Warning", reason: string, message: string): void;
  /** Something outside of the cluster, at most once for an id and this object, across crashes and lost answers. */
  effect<R extends Json>(this: void, id: string, effect: Effect<R>): Promise<R>;
  /**
   * One of the ordered steps of a procedure: not run again once it has returned, in this process or another. A `Result` says
   * that it is not finished; the run ends there with it.
   */
  step<R extends Json | void>(
    this: void,
    name: string,
    run: () => Promise<R | Result>,
    options?: StepOptions,
  ): Promise<R>;
  awaitChange(this: void): Result;
  requeueAfter(this: void, delayMs: number, why: string): Result;
}
