import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { CacheReader, ControllerDefinition, Selection, WatchDefinition } from "./controller-definition.ts";
import type {
  ControllerOptions,
  DesiredOptions,
  OwnedKinds,
  PlannedOptions,
  ReconcileOptions,
} from "./controller-options.ts";
import { isWorthARun } from "./predicate.ts";
import { reconcileDesired } from "./reconcile-desired.ts";
import { reconcilePlanned } from "./reconcile-planned.ts";

/** Keys reconciled at the same time unless the author says otherwise: enough to hide the server's latency. */
const concurrencyDefault = 4;

/** The planned form: observe → plan → act. */
export function controller<T extends KubeObject, S, A extends object>(
  kind: KindRef<T>,
  options: PlannedOptions<T, S, A>,
): ControllerDefinition;
/** The pure form: what should be there. */
export function controller<T extends KubeObject, const O extends OwnedKinds>(
  kind: KindRef<T>,
  options: DesiredOptions<T, O>,
): ControllerDefinition;
/** The plain form: a function with a context. */
export function controller<T extends KubeObject>(kind: KindRef<T>, options: ReconcileOptions<T>): ControllerDefinition;
export function controller<T extends KubeObject, S, A extends object>(
  kind: KindRef<T>,
  options: PlannedOptions<T, S, A> | DesiredOptions<T, OwnedKinds> | ReconcileOptions<T>,
): ControllerDefinition {
  const name = options.name ?? kind.kind.toLowerCase();
  const owns = options.owns ?? [];
  return {
    ...common(kind, name, options),
    // Object.values of an array is the array's elements.
    owns: Object.values(owns),
    reconcile: reconcileOf(kind, options),
  };
}

function common<T extends KubeObject>(
  kind: KindRef<T>,
  name: string,
  options: ControllerOptions<T>,
): Omit<ControllerDefinition, "owns" | "reconcile"> {
  return {
    name,
    kind,
    select: options.select ?? {},
    watches: (options.watches ?? []).map((each) => ("of" in each ? each : { of: each })),
    concurrency: options.concurrency ?? concurrencyDefault,
    fieldManager: options.fieldManager ?? name,
    finalizer: options.finalizer ?? `${kind.group === "" ? "setpoint.dev" : kind.group}/${name}`,
    hasCleanup: options.cleanup !== undefined,
    keepsLedger: options.ledger ?? false,
    ...(options.health === undefined ? {} : { health: options.health }),
    reconcileDeleting: options.reconcileDeleting ?? false,
    // The manager hands a definition only objects of its own kind.
    predicate: (old, next) => options.predicate?.(old as Stored<T>, next as Stored<T>) ?? isWorthARun(old, next),
    cleanup: async (object, context) => options.cleanup?.(object as Stored<T>, context),
  };
}

function reconcileOf<T extends KubeObject, S, A extends object>(
  kind: KindRef<T>,
  options: PlannedOptions<T, S, A> | DesiredOptions<T, OwnedKinds> | ReconcileOptions<T>,
): ControllerDefinition["reconcile"] {
  if ("plan" in options) return reconcilePlanned(kind, options);
  if ("desired" in options) return reconcileDesired(kind, options);
  return (object, context) => options.reconcile(object as Stored<T>, context);
}

/**
 * A watched kind whose changes wake objects of the controller's kind:
 * `watching(Secret, (secret, cache) => cache.list(App).filter(uses(secret)).map(keyOf))`.
 */
export function watching<T extends KubeObject>(
  kind: KindRef<T>,
  wakes: (object: Stored<T>, cache: CacheReader) => readonly NamespacedName[],
  selection: Selection = {},
): WatchDefinition<T> {
  return { of: kind, wakes, ...selection };
}
