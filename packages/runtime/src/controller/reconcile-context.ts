import type { Condition, KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import type { JsonOf } from "./ledger.ts";
import type { Result } from "./result.ts";
import type { ListOptions } from "./watch-definition.ts";

/** Preconditions and retries of a delete. */
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
  /** Whether to take over fields that another manager owns; default true. */
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

/** How `children.apply` updates the children that exist and differ. */
export interface ApplyChildrenOptions {
  /** Default: `InPlace`. */
  update?(this: void, child: KubeObject): ChildUpdate;
}

/**
 * `postponed`: the reconciled object has changed meanwhile, so nothing was deleted. That change runs the key
 * again.
 */
export type PruneOutcome =
  | { readonly kind: "done"; readonly deleted: number }
  | { readonly kind: "postponed"; readonly reason: string };

/** What is recorded of an effect that has no result yet. */
export interface RecordedIntent {
  /**
   * When a run wrote down that it is about to call `do` (RFC 3339): `do` may have been called since, and may
   * still be under way. Undefined when no run has.
   */
  readonly intendedSince: string | undefined;
}

/** How to execute an effect, and how to find its result again. */
export interface Effect<R> {
  /**
   * Called before each attempt: whether the effect has happened, and its result. It must see everything that
   * `do` has ever done under this key, also when no intent is recorded: old records are dropped. If the
   * outside API shows it late, wait here until it does; only an effect with an intent may be on its way.
   */
  find(key: string, recorded: RecordedIntent): Promise<R | undefined>;
  /**
   * Executes the effect. If the outside API takes an idempotency key, pass `key`: it covers a request that is
   * still under way.
   */
  do(key: string): Promise<R>;
}

/** Options of `step`. */
export interface StepOptions {
  /**
   * What the procedure belongs to. When it changes, all steps run again. Default: the object's generation.
   */
  readonly of?: string;
}

/** A condition as an author sets it. The framework adds the times and the generation. */
export type ConditionInit = Pick<Condition, "type" | "status" | "reason" | "message">;

/** The status of a kind as an author writes it. The framework writes the conditions. */
export type StatusInit<T extends KubeObject> = "status" extends keyof T
  ? Omit<NonNullable<T["status"]>, "conditions"> & { readonly conditions?: readonly Condition[] }
  : object;

/**
 * The objects that the reconciled object owns, as a set: those with a controller reference to its UID. A
 * single child is written with `apply`, `create`, `patch` and `delete` of the context.
 */
export interface Children {
  /** The owned objects of a kind, from the cache. */
  list<T extends KubeObject>(this: void, kind: KindRef<T>): readonly Stored<T>[];
  /**
   * Applies all children, then deletes those that this controller applied earlier and that are missing here.
   * When the server refuses a child, the others are still applied; then it deletes nothing and throws the
   * refusals.
   */
  apply(this: void, children: readonly KubeObject[], options?: ApplyChildrenOptions): Promise<PruneOutcome>;
  /** Deletes the children that this controller applied earlier and did not apply in this run. */
  prune(this: void): Promise<PruneOutcome>;
}

/** The clock and the randomness of the process, or of the simulated world. */
export interface ReconcileHost extends Pick<Host, "clock" | "random"> {
  /**
   * Resolves after so many milliseconds; rejects with the signal's reason when the run must end before. It
   * keeps a worker busy: to wait for longer than a few seconds, return `requeueAfter`. Errors:
   * `ERR_DELAY_INVALID` for NaN.
   */
  sleep(this: void, delayMs: number): Promise<void>;
}

/** The controller that reconciles the object, and the cluster that it works in. */
export interface ControllerInfo {
  /** The field manager of this controller's `apply`. */
  readonly fieldManager: string;
  /** The name of the object's cluster when the manager works in several. */
  readonly cluster: string | undefined;
  /**
   * Why reads from the cache may be stale: the account may no longer read a kind, or the server has sent
   * nothing of it for five minutes. Undefined while all kinds are followed. The text changes only with the
   * cause, so a status can contain it.
   */
  outdated(this: void): string | undefined;
  /**
   * Call it before a change of something outside of the API that is no `effect`, such as a user of a
   * database. In a dry run (`setpoint plan`) it reports `what` and ends the run there; else it does nothing.
   */
  changesOutside(this: void, what: string): void;
  /**
   * Call it when something outside of the API does not answer, and the run depends on it. A dry run often
   * happens on a user's machine, which cannot reach pods: it reports `what` and ends the run, unless the run
   * can use something `instead`. Returns whether this is a dry run, in which asking again does not help; else
   * it does nothing.
   */
  cannotReach(this: void, what: string, instead?: string): boolean;
}

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
  /** Time and randomness. A simulated world replaces both, so a reconcile takes them from nowhere else. */
  readonly host: ReconcileHost;
  /** The owned objects, all at once. */
  readonly children: Children;
  /** What does not depend on the reconciled object. */
  readonly controller: ControllerInfo;
  /**
   * For everything else that the API offers: subresources, other kinds. Its writes check the lease too. Reads
   * see its writes to cached objects, and the next run waits for them. The protection against reconcile loops
   * counts its writes; the controller's `limits` and the protection against conflicting field managers do
   * not.
   */
  readonly client: Client;
  get<T extends KubeObject>(this: void, kind: KindRef<T>, name: string, namespace?: string): Stored<T> | undefined;
  /** The objects in the namespace of the reconciled object, unless `options` names another one, or all. */
  list<T extends KubeObject>(this: void, kind: KindRef<T>, options?: ListOptions): readonly Stored<T>[];
  /** Reads from the server, not from the cache. */
  fresh<T extends KubeObject>(
    this: void,
    kind: KindRef<T>,
    name: string,
    namespace?: string,
  ): Promise<Stored<T> | undefined>;
  /**
   * Server-side apply with this controller as field manager. Sets the owner reference unless `owner: false`.
   * Sends nothing when the cache shows that it would change nothing.
   */
  apply<T extends KubeObject>(this: void, object: T, options?: ApplyOptions): Promise<Stored<T>>;
  /** Creates with the owner reference. AlreadyExists of an object that we own counts as success. */
  create<T extends KubeObject>(this: void, object: T, options?: CreateOptions): Promise<Stored<T>>;
  /**
   * JSON merge patch. Its preconditions are the UID and, if `unchanged`, the resourceVersion of `object`. For
   * an object that was not read they are looked up, as in `delete`.
   */
  patch<T extends KubeObject>(this: void, object: T, patch: unknown, options?: PatchOptions): Promise<Stored<T>>;
  /**
   * Deletes with the UID of `object` as precondition. For an object that was only named, the UID comes from
   * the cache, or else from the server. An object of the same name that is created meanwhile stays. A missing
   * object counts as deleted.
   */
  delete(this: void, object: KubeObject, options?: DeleteOptions): Promise<void>;
  /**
   * Replaces the status (server-side apply on /status). Writes nothing when it would change nothing. An empty
   * list of conditions removes them; without a list they stay.
   */
  status(this: void, status: Status): Promise<void>;
  /**
   * Sets conditions of the reconciled object. They are written together with `status`, at the latest at the
   * end of the run.
   */
  condition(this: void, ...conditions: readonly ConditionInit[]): void;
  /**
   * Emits an event for the reconciled object, or for another object that was read. Equal events become one
   * with a count.
   */
  event(this: void, type: "Normal" | "Warning", reason: string, message: string, about?: Stored<KubeObject>): void;
  /**
   * Changes something outside of the cluster, at most once for an id and this object, across crashes and lost
   * answers.
   */
  effect<R extends JsonOf<R>>(this: void, id: string, effect: Effect<R>): Promise<R>;
  /**
   * One of the ordered steps of a procedure. Once it has returned, no process runs it again. A `Result` means
   * that it is not finished: the run ends with that result.
   */
  step<R extends JsonOf<R> | void>(
    this: void,
    name: string,
    run: () => Promise<R | Result>,
    options?: StepOptions,
  ): Promise<R>;
  awaitChange(this: void): Result;
  requeueAfter(this: void, delayMs: number, why: string): Result;
}
