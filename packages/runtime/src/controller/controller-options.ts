import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { AnyConditionProtocol } from "./condition-protocol.ts";
import type { ConditionInit, ReconcileContext, StatusInit } from "./reconcile-context.ts";
import type { FieldHandler } from "./field-handlers.ts";
import type { ObjectMetrics } from "./object-metrics.ts";
import type { WriteLimits } from "./write-limits.ts";
import type { Priority } from "../queue/priority.ts";
import type { RateLimit } from "../queue/rate-limiter.ts";
import type { Result } from "./result.ts";
import type { Step } from "./step.ts";
import type { Daemon } from "./daemon.ts";
import type { OwnedKind } from "./owned-selection.ts";
import type { RelatedSelector, Desired, Finalized, KindsByName, OwnedKinds, OwnedObjects } from "./pure-form.ts";
import type { Source } from "./source.ts";
import type { CacheReader, Selection, WatchDefinition } from "./watch-definition.ts";

/** What all three forms of a controller share. */
export interface ControllerOptions<T extends KubeObject> {
  /** The name in metrics, logs and events; default: the kind in lower case. */
  readonly name?: string;
  /**
   * Which objects are reconciled; default: all in the manager's namespaces. An object that leaves the
   * selection keeps its finalizer, because another controller may have selected it. An event reports this to
   * the user.
   */
  readonly select?: Selection;
  /**
   * Kinds that the controller only reads. They are cached; their changes enqueue the keys that
   * `watching(kind, …)` returns.
   */
  readonly watches?: readonly (KindRef | WatchDefinition)[];
  /** How many keys are reconciled at the same time; default 4. */
  readonly concurrency?: number;
  /** The name in events; default: the controller's name. */
  readonly eventSource?: string;
  /** Default: the controller's name. */
  readonly fieldManager?: string;
  /** Default: `<group>/<name>`. */
  readonly finalizer?: string;
  /**
   * Whether the controller uses `effect` and `step`. Their records are kept in an annotation of the object.
   * Default false.
   */
  readonly ledger?: boolean;
  /**
   * The conditions of the kind, made by `declareConditions`. They exist from the first run, and `Ready`
   * summarises them.
   */
  readonly health?: AnyConditionProtocol;
  /** Also reconcile objects that are being deleted; default false. */
  readonly reconcileDeleting?: boolean;
  /** What enqueues keys besides the watches of kinds: `every`, `cron`, `fromIterable`, `pushSource`. */
  readonly sources?: readonly Source[];
  /** The flow of an object. Flows take turns, so that none delays the others; default: the namespace. */
  fairness?(this: void, object: Stored<T>): string;
  /** The priority of a change; default "normal". Objects of the first list get "low". */
  priority?(this: void, object: Stored<T>): Priority;
  /** How often one object may be reconciled; default: as often as it changes. */
  readonly rateLimit?: RateLimit;
  /**
   * How long a run may take. Then its signal aborts, and the key is retried with back-off. Default: no limit.
   */
  readonly timeoutMs?: number;
  /** The resync period of an object, with a jitter of a tenth; default: reconcile only on changes. */
  readonly maxReconcileIntervalMs?: number;
  /**
   * Handlers of single fields, called before `reconcile`:
   * `[onChange("spec.size", async ({ old, new: size }) => …)]`.
   */
  readonly fields?: readonly FieldHandler<T>[];
  /**
   * Functions that run beside each object while it exists, by name: `{ probe: timer(seconds(30), async
   * (object) => …) }`.
   */
  readonly daemons?: Readonly<Record<string, Daemon<T>>>;
  /** How much the controller may change or delete in a period before it has to wait; default: no limits. */
  readonly limits?: WriteLimits;
  /**
   * Gauges of each object, and its conditions as `setpoint_object_condition`, in the operator's metrics;
   * default: none.
   */
  readonly objectMetrics?: ObjectMetrics<T>;
  /**
   * Whether a change of the reconciled object enqueues its key: `changed("spec.size")`, `anyOf(…)`, or any
   * function. Default: all changes but those of the status. The start of a deletion and the framework's
   * annotations always do.
   */
  predicate?(old: Stored<T>, next: Stored<T>): boolean;
  /**
   * Runs for an object that is being deleted, until it returns nothing. A controller with a `cleanup` adds a
   * finalizer. A result (`requeueAfter`, `awaitChange`) means that the cleanup is not finished.
   */
  cleanup?(object: Stored<T>, context: ReconcileContext<StatusInit<T>>): Promise<Result | void>;
  /**
   * For a kind whose objects own data. Runs instead of `cleanup` when an object is deleted because its
   * CustomResourceDefinition is. It must keep the data where a later object finds them. It adds a finalizer,
   * the right to read the definition, and an admission policy. With the policy the server refuses to delete
   * the definition until a user has annotated it.
   */
  releaseData?(object: Stored<T>, context: ReconcileContext<StatusInit<T>>): Promise<Result | void>;
}

/** The plain form: a function with a context. */
export interface ReconcileOptions<T extends KubeObject> extends ControllerOptions<T> {
  /**
   * Kinds whose objects this controller creates. A change of one enqueues its owner. `{ kind: Secret,
   * labelSelector: "app=shop" }` owns a part of a kind: only that part is watched and cached.
   */
  readonly owns?: readonly OwnedKind[] | OwnedKinds;
  reconcile(object: Stored<T>, context: ReconcileContext<StatusInit<T>>): Promise<Result | void>;
  readonly desired?: undefined;
  readonly plan?: undefined;
}

/** The pure form: computes the desired children from the observed ones. */
export interface DesiredOptions<
  T extends KubeObject,
  O extends OwnedKinds,
  R extends KindsByName = KindsByName,
> extends ControllerOptions<T> {
  readonly reconcile?: undefined;
  readonly plan?: undefined;
  readonly owns?: O;
  /** Kinds of the objects that `customize` names. A change of one calls `desired` again. */
  readonly related?: R;
  /** Pure: no effects, no waiting. `cache` reads the watched kinds. */
  desired(
    this: void,
    object: Stored<T>,
    owned: OwnedObjects<O>,
    cache: CacheReader,
    related: OwnedObjects<R>,
  ): Desired<StatusInit<T>>;
  /**
   * Called instead of `desired` for an object that is being deleted, until it returns `finalized`. A
   * controller with a `finalize` adds a finalizer. Replaces `cleanup`.
   */
  finalize?(
    this: void,
    object: Stored<T>,
    owned: OwnedObjects<O>,
    cache: CacheReader,
    related: OwnedObjects<R>,
  ): Finalized<StatusInit<T>>;
  /** The objects of the related kinds that the answer depends on. */
  customize?(this: void, object: Stored<T>): { readonly [Name in keyof R]?: RelatedSelector };
}

/**
 * The implementation of each action of a plan. Each is idempotent, and its result says when to plan again;
 * default: at once.
 */
export type ActionHandlers<A extends object, S> = {
  readonly [Name in keyof A]: (args: A[Name], context: ReconcileContext, seen: S) => Promise<Result | void>;
};

/** Times of a step, for a status that reports what the controller waits for. */
export interface StepFacts {
  /** When this snapshot was taken (RFC 3339). */
  readonly now: string;
  /** Since when this step is the plan, as far as this process knows (RFC 3339). */
  readonly since: string;
  /** When the next plan is made at the latest (RFC 3339); absent when only a change triggers it. */
  readonly nextTry?: string;
  /** Why the snapshot may be stale, as `context.outdated` returns it. Then `Progressing` is Unknown. */
  readonly outdated?: string;
}

/** The planned form: observe → plan → act. */
export interface PlannedOptions<T extends KubeObject, S, A extends object> extends ControllerOptions<T> {
  readonly reconcile?: undefined;
  readonly desired?: undefined;
  readonly owns?: readonly OwnedKind[] | OwnedKinds;
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
