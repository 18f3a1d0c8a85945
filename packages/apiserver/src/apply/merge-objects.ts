/** Merges an applied configuration into the live object, by the list and map types of its schema. */
import { cloneJson, type FieldPathElement, isJsonObject, type JsonObject, setOwn } from "@setpoint/apimachinery";
import { type Atom, deducedAtom, type ListAtom, type MapAtom, valueKindOf } from "./atom.ts";
import { itemElement } from "./list-items.ts";

/**
 * Merges the configuration into the live object; changes neither. The result may share parts with the live
 * object, and none with the configuration.
 */
export function mergeObjects(atom: Atom, live: JsonObject, config: JsonObject): JsonObject {
  return atom.map === undefined ? config : mergeMaps(atom.map, live, config);
}

function mergeValues(atom: Atom, live: unknown, config: unknown): unknown {
  if (config === undefined) return live;
  if (live === undefined) return cloneJson(config);
  const kind = valueKindOf(config) === "null" ? valueKindOf(live) : valueKindOf(config);
  if (kind === "map" && atom.map?.atomic === false) return mergeMaps(atom.map, live, config);
  if (kind === "list" && atom.list !== undefined && atom.list.kind !== "atomic") {
    return mergeLists(atom.list, live, config);
  }
  return cloneJson(config);
}

function mergeMaps(map: MapAtom, live: unknown, config: unknown): JsonObject {
  const merged: Record<string, unknown> = isJsonObject(live) ? { ...live } : {};
  for (const [name, value] of Object.entries(isJsonObject(config) ? config : {})) {
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    setOwn(merged, name, mergeValues(map.field(name).atom ?? deducedAtom, before, value));
  }
  return merged;
}

/**
 * Applied items come in their own order; items only in live stay where they are relative to shared items. The
 * loop follows structured-merge-diff step by step, since clients see the order.
 */
function mergeLists(list: ListAtom, live: unknown, config: unknown): readonly unknown[] {
  const left: readonly unknown[] = Array.isArray(live) ? live : [];
  const right: readonly unknown[] = Array.isArray(config) ? config : [];
  const leftElements = left.map((item) => itemElement(list, item));
  const rightElements = right.map((item) => itemElement(list, item));
  const leftByElement = indexUnique(left, leftElements);
  const rightByElement = indexUnique(right, rightElements);
  const shared = rightElements.filter((element) => leftByElement.has(element));
  const merge = (element: FieldPathElement): unknown =>
    mergeValues(list.item, leftByElement.get(element), rightByElement.get(element));

  const merged: unknown[] = [];
  const done = new Set<FieldPathElement>();
  let next = shared.shift();
  for (let l = 0, r = 0; l < left.length || r < right.length;) {
    const leftElement = leftElements[l];
    const rightElement = rightElements[r];
    if (leftElement !== undefined && rightElement !== undefined) {
      if (leftElement === rightElement) {
        done.add(leftElement);
        merged.push(merge(leftElement));
        l++;
        r++;
        next = shared.shift();
        continue;
      }
      if (rightByElement.has(leftElement) && next !== undefined && next !== leftElement) {
        // Shared, but another shared item comes first in the applied order.
        l++;
        continue;
      }
    }
    if (leftElement !== undefined) {
      if (!rightByElement.has(leftElement)) {
        merged.push(left[l]);
        l++;
        continue;
      }
      if (done.has(leftElement)) l++;
    }
    if (rightElement === undefined) continue;
    done.add(rightElement);
    merged.push(merge(rightElement));
    r++;
    if (next === rightElement) next = shared.shift();
  }
  return merged;
}

/** Items by element; duplicates in live are not merged with the applied item, which replaces them. */
function indexUnique(items: readonly unknown[], elements: readonly FieldPathElement[]): Map<FieldPathElement, unknown> {
  const index = new Map<FieldPathElement, unknown>();
  elements.forEach((element, i) => index.set(element, index.has(element) ? undefined : items[i]));
  return index;
}
