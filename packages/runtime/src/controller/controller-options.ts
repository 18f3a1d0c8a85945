import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { AnyConditionProtocol } from "./condition-protocol.ts";
import type { CacheReader, Selection, WatchDefinition } from "./controller-definition.ts";
import type { ConditionInit, ReconcileContext } from "./reconcile-context.ts";
import type { Result } from "./result.ts";
import type { Step } from "./step.ts";

/** Kinds by the name under which `desired` gets their objects. */
export type OwnedKinds = Readonly<Record<string, KindRef>>;

/** The objects of owned kinds, under the same names. */
export type OwnedObjects<O extends OwnedKinds> = {
  readonly [Name in keyof O]: O[Name] extends KindRef<infer T> ? readonly Stored<T>[] : never;
};

/** What all three forms of a controller share. */
export interface ControllerOptions<T extends KubeObject> {
  /** Names it in metrics, logs and events; default: the kind in lower case. */
  readonly name?: string;
  /** Which objects are reconciled; default: all in the manager's namespaces. */
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
  /** Whether a change of the reconciled object is worth a run; default: all but changes of the status. */
  predicate?(old: Stored<T>, next: Stored<T>): boolean;
  /**
   * Runs before a deleted object goes away, until it returns nothing; its presence is what adds a finalizer. A result
   * (`requeueAfter`, `awaitChange`) says that it is not finished.
   */
  cleanup?(object: Stored<T>, context: ReconcileContext): Promise<Result | void>;
}

/** The plain form: a function with a context. */
export interface ReconcileOptions<T extends KubeObject> extends ControllerOptions<T> {
  /** Kinds whose objects this controller makes; a change of one wakes its owner. */
  readonly owns?: readonly KindRef[] | OwnedKinds;
  reconcile(object: Stored<T>, context: ReconcileContext): Promise<Result | void>;
}

/** What should be there. */
export interface Desired {
  /** Applied with the owner reference; owned objects that are no longer here are deleted. */
  readonly children: readonly KubeObject[];
  readonly status?: object;
  readonly conditions?: readonly ConditionInit[];
}

/** The pure form: what should be there, given what is there. */
export interface DesiredOptions<T extends KubeObject, O extends OwnedKinds> extends ControllerOptions<T> {
  readonly owns?: O;
  /** Pure: no effects, no waiting; `cache` reads the watched kinds. */
  desired(object: Stored<T>, owned: OwnedObjects<O>, cache: CacheReader): Desired;
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
}

/** The planned form: observe → plan → act. */
export interface PlannedOptions<T extends KubeObject, S, A extends object> extends ControllerOptions<T> {
  readonly owns?: readonly KindRef[] | OwnedKinds;
  /** Everything that the plan needs to know, in one snapshot. */
  observe(object: Stored<T>, context: ReconcileContext): Promise<S> | S;
  /** Pure. `nowMs` is the clock's time in milliseconds since the epoch. */
  plan(seen: S, nowMs: number): Step<A>;
  readonly actions: ActionHandlers<A, S>;
  /** The status for this snapshot and step; the condition `Progressing` is added to it. */
  status?(seen: S, step: Step<A>, facts: StepFacts): object;
  /** More conditions than `Progressing`. */
  conditions?(seen: S, step: Step<A>): readonly ConditionInit[];
}
