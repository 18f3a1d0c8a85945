/** Handlers of single fields inside a level-based reconcile: what was handled is compared with what is there. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { ledgerPrefix } from "../controller/ledger.ts";
import type { ReconcileContext } from "../controller/reconcile-context.ts";
import { fingerprint } from "../objects/fingerprint.ts";
import { valueAt, type ObjectPath, type ValueAt } from "../predicates/field-path.ts";

/** Handlers of one controller, and characters of one remembered value: together they stay far below what annotations may hold. */
export const fieldHandlersMax = 16;
const valueLengthMax = 2_048;

/** The difference between what was handled last and what is wanted now. */
export interface FieldChange<V> {
  readonly path: string;
  /** What was handled last; undefined at the first time, and when it was too large to be remembered. */
  readonly old: V | undefined;
  readonly new: V;
  /** Nothing was handled yet: the object is new, or the handler is. */
  readonly isFirst: boolean;
}

/** Throws when it is not done, and is called again then. Idempotent: a crash before the record repeats it. */
export type FieldHandler<T extends KubeObject, V> = (
  change: FieldChange<V>,
  object: Stored<T>,
  context: ReconcileContext,
) => Promise<void>;

/** Handlers by the path of their field. */
export type FieldHandlers<T extends KubeObject> = {
  readonly [Path in ObjectPath<T>]?: FieldHandler<T, ValueAt<T, Path>>;
};

/** A remembered value: itself, or the fingerprint of one that is too large. */
type Remembered = { readonly value: unknown } | { readonly print: string };

/**
 * Calls the handlers of those fields that differ from what they handled last, in the order of their declaration.
 *
 * Guarantees: no change is lost, whatever arrives while a handler runs, because the record says what *was handled*, not what was
 * seen; a handler that has succeeded is not called again when a later one fails. Changes that were undone before a run are no
 * changes.
 */
export async function runFieldHandlers(
  handlers: Readonly<Record<string, FieldHandler<KubeObject, unknown> | undefined>>,
  object: Stored<KubeObject>,
  context: ReconcileContext,
  controller: string,
): Promise<void> {
  const annotation = `${ledgerPrefix}${controller}.fields`;
  let handled = read(object, annotation);
  for (const [path, handler] of Object.entries(handlers)) {
    const value = valueAt(object, path);
    const before = handled[path];
    if (handler === undefined || isHandled(before, value)) continue;
    const old = before !== undefined && "value" in before ? before.value : undefined;
    await handler({ path, old, new: value, isFirst: before === undefined }, object, context);
    handled = { ...handled, [path]: remembered(value) };
    await context.patch(object, { metadata: { annotations: { [annotation]: JSON.stringify(handled) } } });
  }
}

function read(object: KubeObject, annotation: string): Readonly<Record<string, Remembered>> {
  const text = object.metadata.annotations?.[annotation];
  if (text === undefined) return {};
  try {
    // Nobody but this code writes it; what others break is handled anew.
    return JSON.parse(text) as Readonly<Record<string, Remembered>>;
  } catch {
    return {};
  }
}

function isHandled(before: Remembered | undefined, value: unknown): boolean {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(remembered(value));
}

function remembered(value: unknown): Remembered {
  // An absent field is remembered as null, which no field of an object is.
  const text = JSON.stringify(value ?? null);
  return text.length > valueLengthMax ? { print: fingerprint(text) } : { value: value ?? null };
}
