/** Handlers of single fields in a level-based reconcile: compares the handled value with the current one. */
import { decodeJson, encodeJson, isConflict, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { ledgerPrefix } from "./ledger.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import { errLedger } from "../errors.ts";
import { fingerprint } from "../objects/fingerprint.ts";
import { valueAt, type ObjectPath, type ValueAt } from "./field-path.ts";

/**
 * The most handlers of a controller, and the longest remembered value. Together they stay far below the limit
 * of annotations.
 */
export const fieldHandlersMax = 16;
const valueLengthMax = 2_048;
/** How often to retry a record after a conflict with a change that left the record alone. */
const attemptsMax = 4;

/** The difference between the value handled last and the desired one. */
export interface FieldChange<V> {
  readonly path: string;
  /** The value handled last; undefined at the first time, and when it was too large to remember. */
  readonly old: V | undefined;
  readonly new: V;
  /** Nothing was handled yet: the object is new, or the handler is. */
  readonly isFirst: boolean;
}

/** The handler of one field, made by `onChange`. */
export interface FieldHandler<T extends KubeObject = KubeObject> {
  readonly path: string;
  run(this: void, change: FieldChange<unknown>, object: Stored<T>, context: ReconcileContext): Promise<void>;
}

/**
 * Called before `reconcile` when a field differs from the value handled last: `fields: [onChange("spec.size",
 * async ({ old, new: size }, object, context) => …)]`. A handler that throws is called again. It must be
 * idempotent: after a crash before the record it is repeated.
 */
export function onChange<T extends KubeObject, const Path extends ObjectPath<T>>(
  path: Path,
  handler: (change: FieldChange<ValueAt<T, Path>>, object: Stored<T>, context: ReconcileContext) => Promise<void>,
): FieldHandler<T> {
  // The value at the path has the path's type, as far as the server keeps to the kind.
  return { path, run: (change, object, context) => handler(change as FieldChange<ValueAt<T, Path>>, object, context) };
}

/** A remembered value: itself, or the fingerprint of one that is too large. */
type Remembered = { readonly value: unknown } | { readonly print: string };

/**
 * What was handled of the object with this UID. A copy of the object has another UID, so nothing of it was
 * handled.
 */
interface FieldRecord {
  readonly uid: string;
  readonly fields: Readonly<Record<string, Remembered>>;
}

/**
 * Calls the handlers of the fields that differ from what they handled last, in the order of their
 * declaration.
 *
 * Guarantees: no change is lost while a handler runs, because the record holds the *handled* value, not the
 * seen one. A handler that succeeded is not called again when a later one fails. The record of another
 * process is never overwritten. A change that was reverted before the run is no change. Returns the object
 * with the record; if its spec has changed meanwhile, returns the given object, and the next run handles the
 * change.
 */
export async function runFieldHandlers(
  handlers: readonly FieldHandler[],
  kind: KindRef,
  object: Stored<KubeObject>,
  context: ReconcileContext,
  controller: string,
): Promise<Stored<KubeObject>> {
  const { uid, generation } = object.metadata;
  const annotation = `${ledgerPrefix}${controller}.fields`;
  let recorded = object.metadata.annotations?.[annotation];
  let handled = read(recorded, uid);
  let current = object;
  for (const { path, run } of handlers) {
    const value = valueAt(object, path);
    const before = handled[path];
    if (isHandled(before, value)) continue;
    const old = before !== undefined && "value" in before ? before.value : undefined;
    await run({ path, old, new: value, isFirst: before === undefined }, object, context);
    handled = { ...handled, [path]: remembered(value) };
    const next = encodeJson({ uid, fields: handled } satisfies FieldRecord);
    current = await record(kind, current, context, { annotation, recorded, next });
    recorded = next;
  }
  return current.metadata.generation === generation ? current : object;
}

/** Writes the record if no other process has written it since it was read. */
async function record(
  kind: KindRef,
  object: Stored<KubeObject>,
  context: ReconcileContext,
  {
    annotation,
    recorded,
    next,
  }: { readonly annotation: string; readonly recorded: string | undefined; readonly next: string },
): Promise<Stored<KubeObject>> {
  const { name, namespace, uid } = object.metadata;
  const isSame = (each: Stored<KubeObject> | undefined): each is Stored<KubeObject> => each?.metadata.uid === uid;
  // A handler may have written to the object itself.
  const known = context.get(kind, name, namespace);
  let basis = isSame(known) ? known : object;
  for (let attempt = 1; ; attempt++) {
    if (basis.metadata.annotations?.[annotation] !== recorded) throw recordHasChanged(name);
    try {
      return await context.patch(basis, { metadata: { annotations: { [annotation]: next } } }, { unchanged: true });
    } catch (error) {
      if (!isConflict(error) || attempt >= attemptsMax) throw error;
      const fresh = await context.fresh(kind, name, namespace);
      if (!isSame(fresh)) throw error;
      basis = fresh;
    }
  }
}

function recordHasChanged(name: string): SetpointError {
  const message = `Cannot continue with the fields of "${name}": another process has changed the record of handled fields`;
  return new SetpointError(errLedger, message);
}

function read(text: string | undefined, uid: string): FieldRecord["fields"] {
  if (text === undefined) return {};
  try {
    // Only this code writes the annotation. When another client damages it, all fields are handled again.
    const found = decodeJson(text) as Partial<FieldRecord>;
    return found.uid === uid ? (found.fields ?? {}) : {};
  } catch {
    return {};
  }
}

function isHandled(before: Remembered | undefined, value: unknown): boolean {
  return before !== undefined && encodeJson(before) === encodeJson(remembered(value));
}

function remembered(value: unknown): Remembered {
  // An absent field is remembered as null, which no field of an object is.
  const text = encodeJson(value);
  return text.length > valueLengthMax ? { print: fingerprint(text) } : { value: value ?? null };
}
