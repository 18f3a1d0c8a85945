import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { AnyConditionProtocol } from "./condition-protocol.ts";
import type { ListOptions, ReconcileContext } from "./reconcile-context.ts";
import type { Result } from "./result.ts";

/** Reads of the cache that a mapping function may make. */
export interface CacheReader {
  get<T extends KubeObject>(kind: KindRef<T>, name: string, namespace?: string): Stored<T> | undefined;
  list<T extends KubeObject>(kind: KindRef<T>, options?: ListOptions): readonly Stored<T>[];
}

/** Which objects of a kind are looked at; absent: all in the manager's namespaces. */
export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** A kind whose objects are cached, and whose changes may wake objects of the controller's own kind. */
export interface WatchDefinition<T extends KubeObject = KubeObject> extends Selection {
  readonly of: KindRef<T>;
  /** Which keys a changed object wakes; asked for the old and the new state. */
  wakes?(object: Stored<T>, cache: CacheReader): readonly NamespacedName[];
}

/** What a controller is, as data: made by `controller()`, run by `startManager()`. */
export interface ControllerDefinition {
  /** Names it in metrics, logs, events and leases; default: the kind in lower case. */
  readonly name: string;
  readonly kind: KindRef;
  readonly select: Selection;
  readonly owns: readonly KindRef[];
  readonly watches: readonly WatchDefinition[];
  /** Keys reconciled at the same time. */
  readonly concurrency: number;
  readonly fieldManager: string;
  /** The finalizer's name when there is a `cleanup`; also how an old one of this controller is recognised. */
  readonly finalizer: string;
  readonly hasCleanup: boolean;
  /** Whether runs may keep a ledger in an annotation of the object. */
  readonly keepsLedger: boolean;
  /** The declared conditions of the kind. */
  readonly health?: AnyConditionProtocol;
  /** Whether `reconcile` also gets objects that are being deleted. */
  readonly reconcileDeleting: boolean;
  /** Whether a change of the reconciled object is worth a run. */
  predicate(old: Stored<KubeObject>, next: Stored<KubeObject>): boolean;
  reconcile(object: Stored<KubeObject>, context: ReconcileContext): Promise<Result | void>;
  cleanup(object: Stored<KubeObject>, context: ReconcileContext): Promise<Result | void>;
}
