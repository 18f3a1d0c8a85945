/** An edit of a child by hand: it changes one value that the operator set, beside labels. */
import { decodeJson, isJsonObject, type JsonObject, type KubeObject } from "@setpoint/apimachinery";

type Step = string | number;

/** Fields whose maps hold free texts; of other texts only some are valid. */
const ofFreeTexts: ReadonlySet<string> = new Set(["data", "stringData", "selector"]);
const notEdited: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

/** A value that can be changed. */
interface Editable {
  readonly path: readonly Step[];
  /** Whether it is part of the key of a list's item (the port of a Service). */
  readonly isKey: boolean;
}

export interface SpecEdit {
  /** A merge patch. */
  readonly patch: JsonObject;
  /**
   * With its new key the item is another one, owned by the client that wrote it: an apply adds ours beside
   * it.
   */
  readonly addsItem: boolean;
}

/**
 * Changes one value of `child` which one of `managers` owns: a number by one, a boolean to the other, a free
 * text to another. `rank` chooses the value, modulo their number. Lists are written as a whole, as people do.
 * Undefined when there is no such value.
 */
export function specEdit(child: KubeObject, managers: ReadonlySet<string>, rank: number): SpecEdit | undefined {
  const found = new Map<string, Editable>();
  for (const { manager = "", subresource = "", fieldsV1 } of child.metadata.managedFields ?? []) {
    if (!managers.has(manager) || subresource !== "" || !isJsonObject(fieldsV1)) continue;
    for (const each of ownedValues(fieldsV1, child, []))
      if (!notEdited.has(String(each.path[0]))) found.set(JSON.stringify(each.path), each);
  }
  const sorted = [...found.keys()].sort();
  // One further in each round: the rank has chosen the child, too, and both numbers may have a divisor in
  // common.
  const round = Math.floor(rank / sorted.length);
  const chosen = found.get(sorted[(rank + round) % sorted.length] ?? "");
  // An object of the cluster is one of JSON.
  return chosen && { patch: patched(child, chosen.path) as JsonObject, addsItem: chosen.isKey };
}

/**
 * The values of `value` that a set of fields names and that can be changed; `keys` are those of a list's
 * item.
 */
function* ownedValues(
  fields: JsonObject,
  value: unknown,
  path: readonly Step[],
  { keys, isKey }: { readonly keys: readonly string[]; readonly isKey: boolean } = { keys: [], isKey: false },
): Generator<Editable> {
  const children = Object.entries(fields).filter(([name]) => name !== ".");
  if (children.length === 0 && otherValue(value, path) !== undefined) yield { path, isKey };
  for (const [name, below] of children) {
    const step = stepOf(name, value);
    if (step === undefined || !isJsonObject(below)) continue;
    const place = { keys: keysOf(name).map(([key]) => key), isKey: keys.includes(String(step)) };
    yield* ownedValues(below, (value as Readonly<Record<Step, unknown>>)[step], [...path, step], place);
  }
}

/** The key of an item of FieldsV1 (`k:{"port":80}`). */
function keysOf(name: string): readonly (readonly [string, unknown])[] {
  return name.startsWith("k:") ? Object.entries(decodeJson(name.slice(2)) as JsonObject) : [];
}

/** Where a field of FieldsV1 (`f:ports`, `k:{"port":80}`) is in a value. */
function stepOf(name: string, value: unknown): Step | undefined {
  if (name.startsWith("f:") && isJsonObject(value)) return name.slice(2);
  const key = keysOf(name);
  if (key.length === 0 || !Array.isArray(value)) return undefined;
  const index = value.findIndex((item) => isJsonObject(item) && key.every(([field, wanted]) => item[field] === wanted));
  return index < 0 ? undefined : index;
}

function otherValue(value: unknown, path: readonly Step[]): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  const isFree = path.some((step) => typeof step === "string" && ofFreeTexts.has(step));
  return typeof value === "string" && isFree ? `${value}-edited` : undefined;
}

/** Only the path to the value; a list is kept whole. */
function patched(value: unknown, [step, ...rest]: readonly Step[], before: readonly Step[] = []): unknown {
  if (step === undefined) return otherValue(value, before);
  const path = [...before, step];
  if (Array.isArray(value))
    return value.map((item, at) => (at === step ? merged(item, patched(item, rest, path)) : item));
  return { [step]: patched((value as JsonObject)[step], rest, path) };
}

function merged(item: unknown, change: unknown): unknown {
  return isJsonObject(item) && isJsonObject(change) ? { ...item, ...change } : change;
}
