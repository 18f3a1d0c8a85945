/**
 * Elements of field paths in the form of FieldsV1 keys: `f:name`, `k:{"name":"c"}`, `v:"x"`, `i:0`, and the
 * paths that messages show: `.spec.containers[name="c"].image`.
 */
import { decodeJson, encodeJson } from "./json-text.ts";
import { isJsonObject, type JsonObject } from "./json-value.ts";

/** A step of a path, written as a key of FieldsV1. */
export type FieldPathElement = string;

/** The step into a field: `f:spec`. */
export function fieldElement(name: string): FieldPathElement {
  return `f:${name}`;
}

/**
 * The step to the item of an associative list that has these key fields. Keys are sorted, so equal keys are
 * equal text.
 */
export function keyElement(keys: JsonObject): FieldPathElement {
  const names = Object.keys(keys).sort();
  return `k:{${names.map((name) => `${JSON.stringify(name)}:${encodeJson(keys[name])}`).join(",")}}`;
}

/** The step to the item of a set that has this value. */
export function valueElement(value: unknown): FieldPathElement {
  return `v:${encodeJson(value)}`;
}

/** Writes an element in its one normal form; undefined when it is none (`.` is not an element). */
export function normalFieldElement(text: string): FieldPathElement | undefined {
  const content = text.slice(2);
  try {
    if (text.startsWith("f:")) return text;
    if (text.startsWith("v:")) return valueElement(decodeJson(content));
    if (text.startsWith("i:")) return /^-?\d+$/.test(content) ? `i:${Number(content)}` : undefined;
    if (!text.startsWith("k:")) return undefined;
    const keys = decodeJson(content);
    return isJsonObject(keys) ? keyElement(keys) : undefined;
  } catch {
    return undefined;
  }
}

function formatElement(element: FieldPathElement): string {
  const content = element.slice(2);
  if (element.startsWith("f:")) return `.${content}`;
  if (element.startsWith("v:")) return `[=${content}]`;
  if (element.startsWith("i:")) return `[${content}]`;
  const keys = decodeJson(content);
  if (!isJsonObject(keys)) return `[${content}]`;
  return `[${Object.keys(keys)
    .map((name) => `${name}=${encodeJson(keys[name])}`)
    .join(",")}]`;
}

/** A path as the API server's messages show it. */
export function formatFieldPath(path: readonly FieldPathElement[]): string {
  return path.map(formatElement).join("");
}

const elementOrder = "fkvi";

/** The order of paths in messages: fields, then keyed items, values, indexes; each by its text. */
export function compareFieldElements(a: FieldPathElement, b: FieldPathElement): number {
  const kinds = elementOrder.indexOf(a.charAt(0)) - elementOrder.indexOf(b.charAt(0));
  if (kinds !== 0) return kinds;
  if (a.startsWith("i:")) return Number(a.slice(2)) - Number(b.slice(2));
  return a < b ? -1 : a > b ? 1 : 0;
}
