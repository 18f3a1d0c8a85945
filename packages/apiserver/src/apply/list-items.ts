/** Associative lists: which path element names an item. */
import { type FieldPathElement, isJsonObject, keyElement, valueElement } from "@setpoint/apimachinery";
import type { ListAtom } from "./atom.ts";
import { TypedError } from "./typed-error.ts";

/**
 * The element that names `item` in an associative list. Errors: `TypedError` with upstream's message,
 * without a path.
 */
export function itemElement(list: ListAtom, item: unknown): FieldPathElement {
  return list.kind === "map" ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListAtom, item: unknown): FieldPathElement {
  if (item === null) throw new TypedError("associative list with keys may not have a null element");
  if (!isJsonObject(item)) throw new TypedError("associative list with keys may not have non-map elements");
  const keys: Record<string, unknown> = {};
  for (const name of list.keys) {
    const key = item[name] ?? list.keyDefaults[name];
    if (key !== undefined) keys[name] = key;
  }
  if (Object.keys(keys).length > 0) return keyElement(keys);
  const names = `[${list.keys.map((name) => JSON.stringify(name)).join(" ")}]`;
  throw new TypedError(
    `associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`,
  );
}

function setElement(item: unknown): FieldPathElement {
  if (item === null) throw new TypedError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new TypedError("not supported: associative list with lists as elements");
  if (isJsonObject(item)) throw new TypedError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

/** The items of a list by their elements, in order; several items under one element are duplicates. */
export function groupItems(list: ListAtom, items: readonly unknown[]): Map<FieldPathElement, readonly unknown[]> {
  const groups = new Map<FieldPathElement, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}
