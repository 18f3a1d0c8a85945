/** Checks an applied configuration against its schema, with structured-merge-diff's messages. */
import { type FieldPathElement, formatFieldPath, isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import { goQuote } from "@setpoint/schema";
import { type Atom, type ListAtom, type MapAtom, type ScalarType } from "./atom.ts";
import { formatGo as formatGoValue } from "../patch/strategic-merge-error.ts";
import { itemElement } from "./list-items.ts";
import { TypedError } from "./typed-error.ts";

/**
 * Where the walk is; the same array all the way, and indexes of atomic lists as numbers, since faults are
 * few.
 */
type Path = (FieldPathElement | number)[];

/** All faults as `.path: text`; none when the object fits. */
export function validateApplied(atom: Atom, object: JsonObject): readonly string[] {
  const faults: string[] = [];
  validateValue(faults, atom, object, []);
  return faults;
}

/** Faults as one text: one alone, several as an indented list. */
export function formatFaults(faults: readonly string[]): string {
  return faults.length === 1 ? (faults[0] ?? "") : ["errors:", ...faults.map((fault) => `  ${fault}`)].join("\n");
}

function fault(faults: string[], path: Path, text: string): void {
  if (path.length === 0) faults.push(text);
  else {
    const elements = path.map((step) => (typeof step === "number" ? `i:${step}` : step));
    faults.push(`${formatFieldPath(elements)}: ${text}`);
  }
}

function validateValue(faults: string[], { map, list, scalar }: Atom, value: unknown, path: Path): void {
  if (value === null || value === undefined) return;
  if (map !== undefined && isJsonObject(value)) return validateMap(faults, map, value, path);
  if (list !== undefined && Array.isArray(value)) return validateList(faults, list, value, path);
  // What the schema does not take as what it is, it takes for what it wants.
  if (map !== undefined && (scalar === undefined || typeof value === "object")) {
    return fault(faults, path, `expected map, got ${formatGo(value)}`);
  }
  if (scalar !== undefined) {
    const text = scalarFault(scalar, value);
    if (text !== undefined) fault(faults, path, text);
  } else if (list !== undefined) fault(faults, path, `expected list, got ${formatGo(value)}`);
}

function scalarFault(type: ScalarType, value: unknown): string | undefined {
  if (type === "numeric" && typeof value !== "number" && typeof value !== "bigint") {
    return `expected numeric (int or float), got ${goTypeOf(value)}`;
  }
  if (type === "string" && typeof value !== "string") return `expected string, got ${formatGoVerbose(value)}`;
  if (type === "boolean" && typeof value !== "boolean") return `expected boolean, got ${formatGo(value)}`;
  return type === "untyped" && typeof value === "object" ? `expected any scalar, got ${formatGo(value)}` : undefined;
}

/** A value's type as Go's `%T` names it. */
function goTypeOf(value: unknown): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

/** A value as structured-merge-diff prints it. */
function formatGo(value: unknown): string {
  return `&{${formatGoValue(value)}}`;
}

/** A value as Go's `%#v` prints a wrapped one. */
function formatGoVerbose(value: unknown): string {
  return `&value.valueUnstructured{Value:${goSyntaxOf(value)}}`;
}

/** A value as Go writes it in source text. */
function goSyntaxOf(value: unknown): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value !== "object") return typeof value === "string" ? goQuote(value) : String(value);
  if (Array.isArray(value)) return `${goTypeOf(value)}{${value.map(goSyntaxOf).join(", ")}}`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${goTypeOf(value)}{${entries.map(([key, item]) => `${goQuote(key)}:${goSyntaxOf(item)}`).join(", ")}}`;
}

function validateMap(faults: string[], map: MapAtom, object: JsonObject, path: Path): void {
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const { element, atom } = map.field(name);
    path.push(element);
    // Upstream stops at the first undeclared field, whichever its random order meets first; we name all.
    if (atom === undefined) fault(faults, path, "field not declared in schema");
    else validateValue(faults, atom, value, path);
    path.pop();
  }
}

function validateList(faults: string[], list: ListAtom, items: readonly unknown[], path: Path): void {
  if (list.kind === "atomic") return validateAtomicList(faults, list, items, path);
  const seen = new Set<FieldPathElement>();
  for (const [index, item] of items.entries()) {
    const element = elementOrFault(faults, list, item, index, path);
    if (element === undefined) return;
    if (seen.has(element)) fault(faults, path, `duplicate entries for key ${formatFieldPath([element])}`);
    seen.add(element);
    path.push(element);
    validateValue(faults, list.item, item, path);
    path.pop();
  }
}

function validateAtomicList(faults: string[], { item }: ListAtom, items: readonly unknown[], path: Path): void {
  for (let index = 0; index < items.length; index++) {
    path.push(index);
    validateValue(faults, item, items[index], path);
    path.pop();
  }
}

function elementOrFault(
  faults: string[],
  list: ListAtom,
  item: unknown,
  index: number,
  path: Path,
): FieldPathElement | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    fault(faults, path, `element ${index}: ${error.message}`);
    return undefined;
  }
}
