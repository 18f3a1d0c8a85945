import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { AnyConditionProtocol } from "./condition-protocol.ts";
import type { ConditionInit, ReconcileContext, StatusInit } from "./reconcile-context.ts";
import type { FieldHandler } from "./field-handlers.ts";
import type { WriteLimits } from "./write-limits.ts";
import type { Priority } from "../queue/priority.ts";
import type { RateLimit } from "../queue/rate-limiter.ts";
import type { Result } from "./result.ts";
import type { Step } from "./step.ts";
import type { Daemon } from "./daemon.ts";
import type { RelatedSelector, Desired, Finalized, OwnedKinds, OwnedObjects } from "./pure-form.ts";
import type { Source } from "./source.ts";
import type { CacheReader, Selection, WatchDefinition } from "./watch-definition.ts";

/** What all three forms of a controller share. */
export interface ControllerOptions<T extends KubeObject> {
  /** Names it in metrics, logs and events; default: the kind in lower case. */
  readonly name?: string;
  /**
   * Which objects are reconciled; default: all in the manager's namespaces. An object that leaves the
   * selection keeps its finalizer, because another controller may have selected it. An event reports this to
   * the user.
   */
  readonly select?: Selection;
  /** Kinds that are only read: cached, and waking what `watching(kind, …)` says. */
  readonly watches?: readonly (KindRef | WatchDefinition)[];
  /** Keys reconciled at the same time; default 4. */
  readonly concurrency?: number;
  /** Default: the controller's name. */
  readonly fieldManager?: string;
  /** Default: `<group>/<name>`. */
  readonly finalizer?: string;
  /** Whether `effect` and `step` are used: what they record is kept in an annotation of the object. Default false. */
  readonly ledger?: boolean;
  /** The conditions of the kind, made by `declareConditions`: there from the first visit, and summed up as `Ready`. */
  readonly health?: AnyConditionProtocol;
  /** Also reconcile objects that are being deleted; default false. */
  readonly reconcileDeleting?: boolean;
  /** What wakes keys besides the watches of kinds: `every`, `cron`, `fromIterable`, `pushSource`. */
  readonly sources?: readonly Source[];
  /** Objects with the same answer share a turn, so that none of them holds up the others; default: the namespace. */
  fairness?(this: void, object: Stored<T>): string;
  /** How urgent a change of an object is; default "normal". What the first list shows is "low". */
  priority?(this: void, object: Stored<T>): Priority;
  /** How often one object may be reconciled; default: as often as it changes. */
  readonly rateLimit?: RateLimit;
  /** How long a run may take: then its signal aborts, and it is tried again with back-off; default: no limit. */
  readonly timeoutMs?: number;
  /** An object is reconciled at least so often, give or take a tenth; default: only when something changes. */
  readonly maxReconcileIntervalMs?: number;
  /** Handlers of single fields, called before `reconcile`: `[onChange("spec.size", async ({ old, new: size }) => …)]`. */
  readonly fields?: readonly FieldHandler<T>[];
  /** What runs beside each object for as long as it is there, by name: `{ probe: timer(seconds(30), async (object) => …) }`. */
  readonly daemons?: Readonly<Record<string, Daemon<T>>>;
  /** How much the controller may change or delete in a while before it has to wait; default: no limits. */
  readonly limits?: WriteLimits;
  /**
   * Whether a change of the reconciled object is worth a run: `changed("spec.size")`, `anyOf(…)`, or any function; default: all
   * but changes of the status. The begin of a deletion and the annotations of the framework are always worth one.
   */
  predicate?(old: Stored<T>, next: Stored<T>): boolean;
  /**
   * Runs before a deleted object goes away, until it returns nothing; its presence is what adds a finalizer. A result
   * (`requeueAfter`, `awaitChange`) says that it is not finished.
   */
  cleanup?(object: Stored<T>, context: ReconcileContext<StatusInit<T>>): Promise<Result | void>;
  /**
   * Says that objects of this kind own data. Runs instead of `cleanup` when an object is deleted because its CustomResourceDefinition is:
   * it keeps the data where a later object finds them. Its presence adds a finalizer, the right to read the definition, and an
   * admission policy: the server refuses to delete the definition until a person has annotated it.
   */
  releaseData?(object: Stored<T>, context: ReconcileContext<StatusInit<T>>): Promise<Result | void>;
}

/** The plain form: a function with a context. */
export interface ReconcileOptions<T extends KubeObject> extends ControllerOptions<T> {
  /** Kinds whose objects this controller makes; a change of one wakes its owner. */
  readonly owns?: readonly KindRef[] | OwnedKinds;
  reconcile(object: Stored<T>, context: ReconcileContext<StatusInit<T>>): Promise<Result | void>;
}

/** The pure form: what should be there, given what is there. */
export interface DesiredOptions<
  T extends KubeObject,
  O extends OwnedKinds,
  R extends OwnedKinds = OwnedKinds,
> extends ControllerOptions<T> {
  readonly owns?: O;
  /** Kinds of which `customize` names objects; a change of one of these asks `desired` again. */
  readonly related?: R;
  /** Pure: no effects, no waiting; `cache` reads the watched kinds. */
  desired(
    this: void,
    object: Stored<T>,
    owned: OwnedObjects<O>,
    cache: CacheReader,
    related: OwnedObjects<R>,
  ): Desired<StatusInit<T>>;
  /**
   * Asked instead of `desired` once the object is being deleted, until it says `finalized`; its presence is what adds a
   * finalizer. Takes the place of `cleanup`.
   */
  finalize?(
    this: void,
    object: Stored<T>,
    owned: OwnedObjects<O>,
    cache: CacheReader,
    related: OwnedObjects<R>,
  ): Finalized<StatusInit<T>>;
  /** Which objects of the related kinds the answer depends on. */
  customize?(this: void, object: Stored<T>): { readonly [Name in keyof R]?: RelatedSelector };
}

/** What each action of a plan does. Each is idempotent and says by a result when to look again; default: at once. */
export type ActionHandlers<A extends object, S> = {
  readonly [Name in keyof A]: (args: A[Name], context: ReconcileContext, seen: S) => Promise<Result | void>;
};

/** Times around a step, for a status that says what is waited for. */
export interface StepFacts {
  /** The time of this look (RFC 3339). */
  readonly now: string;
  /** Since when this step is the plan, as far as this process knows (RFC 3339). */
  readonly since: string;
  /** When the plan is made again at the latest (RFC 3339); absent when only a change wakes it. */
  readonly nextTry?: string;
  /** Why the snapshot may be old, as `context.outdated` says; then `Progressing` is Unknown. */
  readonly outdated?: string;
}

/** The planned form: observe → plan → act. */
export interface PlannedOptions<T extends KubeObject, S, A extends object> extends ControllerOptions<T> {
  readonly owns?: readonly KindRef[] | OwnedKinds;
  /** Everything that the plan needs to know, in one snapshot. */
  observe(object: Stored<T>, context: ReconcileContext<StatusInit<T>>): Promise<S> | S;
  /** Pure. `nowMs` is the clock's time in milliseconds since the epoch. */
  plan(seen: S, nowMs: number): Step<A>;
  readonly actions: ActionHandlers<A, S>;
  /** The status for this snapshot and step; the condition `Progressing` is added to it. */
  status?(seen: S, step: Step<A>, facts: StepFacts): StatusInit<T>;
  /** More conditions than `Progressing`. */
  conditions?(seen: S, step: Step<A>, facts: StepFacts): readonly ConditionInit[];
}
