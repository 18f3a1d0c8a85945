/**
 * Strategic merge patch: a merge patch in which lists merge by keys, with directives, by the schema's
 * extensions.
 */
import { cloneJson, isJsonObject, type JsonObject, type UnstructuredObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import {
  formatGo,
  malformedPatch,
  missingMergeKey,
  unknownDirective,
  unprocessablePatch,
  untypedPatchError,
  wrongType,
} from "./strategic-merge-error.ts";
import { identityOf, orderItems } from "./strategic-merge-order.ts";

const directive = "$patch";
const retainKeys = "$retainKeys";
const deletePrefix = "$deleteFromPrimitiveList";
const orderPrefix = "$setElementOrder";

type MutableMap = { [key: string]: unknown };

/** The merge strategy of a field, by its schema. */
interface PatchMeta {
  readonly schema: StructuralSchema | undefined;
  /** "merge", "replace" or "": lists merge only with "merge", maps unless "replace". */
  readonly strategy: string;
  readonly mergeKey: string;
}

/**
 * The object with the patch applied; neither argument is changed and the result shares nothing with them.
 *
 * Errors: `ApiError` 400 for malformed directives, 422 for lists of lists, 500 with an empty reason for list
 * items without their merge key and the like (upstream does not type these).
 */
export function strategicMergePatch(
  schema: StructuralSchema,
  original: UnstructuredObject,
  patch: JsonObject,
): UnstructuredObject {
  const merged = mergeMap(cloneJson(original) as MutableMap, cloneJson<MutableMap>(patch), schema);
  // A patch may leave out or null what makes an object; the registry checks the result as it checks every
  // request.
  return merged as UnstructuredObject;
}

function metaOf(schema: StructuralSchema | undefined, field: string): PatchMeta {
  const additional = schema?.additionalProperties;
  const found = schema?.properties?.[field] ?? (typeof additional === "object" ? additional : undefined);
  const strategies = (found?.["x-kubernetes-patch-strategy"] ?? "").split(",");
  const strategy = strategies.find((each) => each !== "retainKeys") ?? "";
  return { schema: found, strategy, mergeKey: found?.["x-kubernetes-patch-merge-key"] ?? "" };
}

function mergeMap(original: MutableMap, patch: MutableMap, schema: StructuralSchema | undefined): MutableMap {
  if (patch[directive] !== undefined) return directedMap(patch);
  dropUnretained(original, patch);
  for (const key of Object.keys(patch)) if (key.startsWith(orderPrefix)) mergeOrderedList(original, patch, key, schema);
  for (const key of Object.keys(patch)) mergeField(original, key, patch[key], schema);
  return original;
}

function directedMap(patch: MutableMap): MutableMap {
  const { [directive]: what, ...rest } = patch;
  if (what === "replace") return rest;
  if (what === "delete") return {};
  throw unknownDirective(what, patch);
}

/** `$retainKeys` names all keys that may stay; every key that the patch sets must be among them. */
function dropUnretained(original: MutableMap, patch: MutableMap): void {
  const retained = patch[retainKeys];
  if (retained === undefined) return;
  delete patch[retainKeys];
  if (!Array.isArray(retained)) throw malformedPatch("invalid patch format of retainKeys");
  const keys = new Set<unknown>(retained);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || key.startsWith(deletePrefix) || key.startsWith(orderPrefix) || keys.has(key)) continue;
    throw malformedPatch("invalid patch format of retainKeys");
  }
  for (const key of Object.keys(original)) if (!keys.has(key)) delete original[key];
}

function mergeField(original: MutableMap, key: string, value: unknown, schema: StructuralSchema | undefined): void {
  if (key.startsWith(deletePrefix)) return deleteFromPrimitiveList(original, key, value);
  if (value === null) {
    delete original[key];
    return;
  }
  const before = original[key];
  const meta = metaOf(schema, key);
  if (isJsonObject(before) && isJsonObject(value)) {
    original[key] = meta.strategy === "replace" ? value : mergeMap(before, value, meta.schema);
  } else if (Array.isArray(before) && Array.isArray(value)) {
    original[key] = meta.strategy === "merge" ? mergeList(before, value, meta) : value;
  } else {
    setOrDelete(original, key, withoutDirectives(value));
  }
}

function setOrDelete(original: MutableMap, key: string, value: unknown): void {
  if (value === undefined) delete original[key];
  else original[key] = value;
}

/** A value that is new on the server: without nulls, and without what carries a directive. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (value[directive] !== undefined) return undefined;
  const rest: MutableMap = {};
  for (const [key, child] of Object.entries(value)) {
    if (child !== null) setOrDelete(rest, key, withoutDirectives(child));
  }
  return rest;
}

function directedField(key: string, prefix: string, fault: string): string {
  if (!key.startsWith(`${prefix}/`)) throw malformedPatch(fault);
  return key.slice(prefix.length + 1);
}

function deleteFromPrimitiveList(original: MutableMap, key: string, value: unknown): void {
  const field = directedField(key, deletePrefix, "invalid patch format of primitive list");
  const before = original[field];
  if (!Array.isArray(before) || !Array.isArray(value)) return;
  elementKind(before, value);
  const deleted = new Set<unknown>(value);
  original[field] = before.filter((item) => !deleted.has(item));
}

/** Merges the list of a `$setElementOrder` directive with its field, and removes both from the patch. */
function mergeOrderedList(
  original: MutableMap,
  patch: MutableMap,
  key: string,
  schema: StructuralSchema | undefined,
): void {
  const order = patch[key];
  delete patch[key];
  if (!Array.isArray(order)) throw wrongType("list", order);
  const field = directedField(key, orderPrefix, "invalid patch format of setElementOrder list");
  const before = original[field];
  const changes = patch[field];
  if (before !== undefined && !Array.isArray(before)) throw wrongType("list", before);
  if (changes !== undefined && !Array.isArray(changes)) throw wrongType("list", changes);
  const meta = metaOf(schema, field);
  checkOrder(changes ?? [], order, meta.mergeKey);
  delete patch[field];
  const merged = orderedBase(before, changes, meta);
  if (merged !== undefined) original[field] = orderItems(merged, order, before ?? [], meta.mergeKey);
}

function orderedBase(
  before: unknown[] | undefined,
  changes: unknown[] | undefined,
  meta: PatchMeta,
): readonly unknown[] | undefined {
  if (changes === undefined) return before;
  if (before === undefined) return changes.map(withoutDirectives).filter((item) => item !== undefined);
  return meta.strategy === "merge" ? mergeList([...before], changes, meta) : changes;
}

/** The patch's items must be among those of the order and in the same order. */
function checkOrder(changes: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (changes.length === 0 || order.length === 0) return;
  const isDirected = (item: unknown): boolean => isJsonObject(item) && item[directive] !== undefined;
  const wanted = changes.filter((item) => !isDirected(item)).map((item) => identityOf(item, mergeKey));
  let next = 0;
  for (const item of order) if (next < wanted.length && identityOf(item, mergeKey) === wanted[next]) next++;
  if (next === wanted.length) return;
  throw untypedPatchError(
    `The order in patch list:\n${formatGo(changes)}\n doesn't match ${orderPrefix} list:\n${formatGo(order)}\n`,
  );
}

/** The kind of the items of two lists, which must be one. */
function elementKind(...lists: readonly (readonly unknown[])[]): "map" | "scalar" {
  const items = lists.flatMap((list) => list);
  if (Array.isArray(items[0])) throw unprocessablePatch("lists of lists are not supported");
  const kinds = new Set(items.map((item) => (isJsonObject(item) ? "map" : Array.isArray(item) ? "list" : typeof item)));
  if (kinds.size > 1) throw untypedPatchError(`list element types are not identical: ${formatGo(lists)}`);
  return kinds.has("map") ? "map" : "scalar";
}

function mergeList(before: unknown[], patch: readonly unknown[], meta: PatchMeta): unknown[] {
  if (before.length === 0 && patch.length === 0) return before;
  if (elementKind(before, patch) === "scalar") {
    return orderItems([...new Set([...before, ...patch])], patch, before, "");
  }
  const { mergeKey } = meta;
  if (mergeKey === "") throw untypedPatchError("cannot merge lists without merge key for the patched field");
  const { base, changes } = directedItems(before, patch.filter(isJsonObject), mergeKey);
  const merged = [...base];
  const places = new Map<unknown, number>();
  for (let index = merged.length - 1; index >= 0; index--) {
    const item = merged[index];
    if (isJsonObject(item)) places.set(item[mergeKey], index);
  }
  for (const change of changes) {
    const identity = identityOf(change, mergeKey);
    const index = places.get(identity) ?? merged.length;
    const found = merged[index];
    merged[index] = isJsonObject(found) ? mergeMap(found, change, meta.schema?.items) : change;
    places.set(identity, index);
  }
  return orderItems(merged, changes, base, mergeKey);
}

interface DirectedItems {
  readonly base: readonly unknown[];
  readonly changes: readonly MutableMap[];
}

/** Obeys the items that carry `$patch`: `delete` by key, `replace` for the whole list. */
function directedItems(before: readonly unknown[], patch: readonly JsonObject[], mergeKey: string): DirectedItems {
  const deleted = new Set<unknown>();
  let isReplaced = false;
  const changes: MutableMap[] = [];
  for (const item of patch) {
    const what = item[directive];
    if (what === undefined) changes.push(item);
    else if (what === "replace") isReplaced = true;
    else if (what === "merge") throw untypedPatchError("merging lists cannot yet be specified in the patch");
    else if (what !== "delete") throw unknownDirective(what, item);
    else {
      const identity = item[mergeKey];
      if (identity === undefined) throw missingMergeKey(item, mergeKey);
      deleted.add(identity);
    }
  }
  const base = before.filter((each) => !(isJsonObject(each) && deleted.has(each[mergeKey])));
  return isReplaced ? { base: changes, changes: [] } : { base, changes };
}
