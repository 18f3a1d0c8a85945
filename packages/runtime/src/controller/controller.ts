import { SetpointError, type KubeObject, type NamespacedName } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { ControllerOptions, DesiredOptions, PlannedOptions, ReconcileOptions } from "./controller-options.ts";
import { errControllerInvalid } from "../errors.ts";
import { alwaysWakes } from "./always-wakes.ts";
import { checkDefinition } from "./check-definition.ts";
import { isWorthARun } from "./predicate.ts";
import { withFieldHandlers } from "./with-field-handlers.ts";
import type { KindsByName, PureForm, OwnedKinds } from "./pure-form.ts";
import { pureFormOf, reconcilePure } from "./reconcile-desired.ts";
import { reconcilePlanned } from "./reconcile-planned.ts";
import { kindOf, selectionsOf, type OwnedKind } from "./owned-selection.ts";
import type { CacheReader, Selection, WatchDefinition } from "./watch-definition.ts";

/** Keys reconciled at the same time unless the author says otherwise: enough to hide the server's latency. */
const concurrencyDefault = 4;

/**
 * Declares a controller in one of the three forms: planned (observe → plan → act), pure (what should be
 * there), or plain (a function with a context). One signature instead of an overload for each, because the
 * compiler reports a mistake in any form against the last overload.
 */
export function controller<
  T extends KubeObject,
  S = unknown,
  A extends object = object,
  const O extends OwnedKinds = OwnedKinds,
  const R extends KindsByName = KindsByName,
>(
  kind: KindRef<T>,
  options: PlannedOptions<T, S, A> | DesiredOptions<T, O, R> | ReconcileOptions<T>,
): ControllerDefinition {
  const name = options.name ?? kind.kind.toLowerCase();
  // Object.values of an array is the array's elements.
  const owned: readonly OwnedKind[] = Object.values(options.owns ?? []);
  const ownedSelections = selectionsOf(owned);
  if (options.desired !== undefined) {
    const form = pureFormOf(options);
    return checkDefinition({ ...pureController(kind, form, options), ownedSelections });
  }
  return checkDefinition({
    ...common(kind, name, options),
    owns: owned.map(kindOf),
    ownedSelections,
    reconcile: withFieldHandlers(name, kind, options.fields, reconcileOf(kind, options)),
  });
}

/** A controller of the pure form whose function is somewhere else, for instance behind a hook. */
export function pureController<T extends KubeObject>(
  kind: KindRef<T>,
  form: PureForm,
  options: ControllerOptions<T>,
): ControllerDefinition {
  const name = options.name ?? kind.kind.toLowerCase();
  const shared = common(kind, name, options);
  const { pure, reconcile, finalize, watches } = reconcilePure(kind, form);
  if (finalize !== undefined && options.cleanup !== undefined)
    throw new SetpointError(
      errControllerInvalid,
      `Cannot use controller "${name}": it has a \`cleanup\` and a \`finalize\`; one of them is enough`,
    );
  return checkDefinition({
    ...shared,
    ...(pure === undefined ? {} : { pure }),
    ...(finalize === undefined ? {} : { hasCleanup: true, cleanup: finalize }),
    owns: Object.values(form.owns),
    watches: [...shared.watches, ...watches],
    reconcile: withFieldHandlers(name, kind, options.fields, reconcile),
  });
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
    hasCleanup: options.cleanup !== undefined || options.releaseData !== undefined,
    keepsLedger: options.ledger ?? options.fields !== undefined,
    ...(options.eventSource === undefined ? {} : { eventSource: options.eventSource }),
    ...(options.health === undefined ? {} : { health: options.health }),
    reconcileDeleting: options.reconcileDeleting ?? false,
    ...pacing(options),
    // The manager hands a definition only objects of its own kind.
    predicate: (old, next) =>
      options.predicate === undefined
        ? isWorthARun(old, next)
        : alwaysWakes(old, next) || options.predicate(old as Stored<T>, next as Stored<T>),
    cleanup: async (object, context) => options.cleanup?.(object as Stored<T>, context),
    ...(options.releaseData === undefined ? {} : { releaseData: releaseOf(options) }),
  };
}

function releaseOf<T extends KubeObject>(
  options: ControllerOptions<T>,
): NonNullable<ControllerDefinition["releaseData"]> {
  return async (object, context) => options.releaseData?.(object as Stored<T>, context);
}

/** What wakes keys and holds them back. The functions get only objects of the controller's kind. */
function pacing<T extends KubeObject>(options: ControllerOptions<T>): Partial<ControllerDefinition> {
  const { sources, rateLimit, timeoutMs, maxReconcileIntervalMs, limits } = options;
  const daemons = options.daemons as ControllerDefinition["daemons"];
  const fairness = options.fairness as ControllerDefinition["fairness"];
  const priority = options.priority as ControllerDefinition["priority"];
  const objectMetrics = options.objectMetrics as ControllerDefinition["objectMetrics"];
  return {
    ...(sources === undefined ? {} : { sources }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxReconcileIntervalMs === undefined ? {} : { maxReconcileIntervalMs }),
    ...(limits === undefined ? {} : { limits }),
    ...(objectMetrics === undefined ? {} : { objectMetrics }),
    ...(daemons === undefined ? {} : { daemons }),
    ...(fairness === undefined ? {} : { fairness }),
    ...(priority === undefined ? {} : { priority }),
  };
}

function reconcileOf<T extends KubeObject, S, A extends object>(
  kind: KindRef<T>,
  options: PlannedOptions<T, S, A> | ReconcileOptions<T>,
): ControllerDefinition["reconcile"] {
  if (options.plan !== undefined) return reconcilePlanned(kind, options);
  return (object, context) => options.reconcile(object as Stored<T>, context);
}

/**
 * A watched kind whose changes wake objects of the controller's kind:
 * `watching(Secret, (secret, cache) => cache.list(App, { namespace: secret.metadata.namespace }).filter(uses(secret)).map(keyOf))`.
 */
export function watching<T extends KubeObject>(
  kind: KindRef<T>,
  wakes: (object: Stored<T>, cache: CacheReader) => readonly NamespacedName[],
  options: Selection & Pick<WatchDefinition<T>, "predicate"> = {},
): WatchDefinition<T> {
  return { of: kind, wakes, ...options };
}
