/** The differences of two objects, as sets of fields. */
import {
  deepEqual,
  type FieldPathElement,
  FieldSet,
  fieldsLeaf,
  type FieldsTree,
  isJsonObject,
  type JsonObject,
} from "@setpoint/apimachinery";
import { type Atom, deducedAtom, type ListAtom, type MapAtom, valueKindOf } from "./atom.ts";
import { groupItems } from "./list-items.ts";
import { TreeDraft } from "./tree-draft.ts";

export interface Comparison {
  /** Those that are new or have another value. */
  readonly written: FieldSet;
  readonly removed: FieldSet;
}

/** What differs in one map or list. */
class Difference {
  #written: TreeDraft | undefined;
  #removed: TreeDraft | undefined;

  get written(): FieldsTree | undefined {
    return this.#written?.tree();
  }

  get removed(): FieldsTree | undefined {
    return this.#removed?.tree();
  }

  write(element: FieldPathElement, node: FieldsTree): void {
    this.#written ??= new TreeDraft(false);
    this.#written.add(element, node);
  }

  remove(element: FieldPathElement, node: FieldsTree): void {
    this.#removed ??= new TreeDraft(false);
    this.#removed.add(element, node);
  }

  /** Hangs the differences of a child below `element`. */
  attach(element: FieldPathElement, { written, removed }: Difference): void {
    if (written !== undefined) this.write(element, written);
    if (removed !== undefined) this.remove(element, removed);
  }
}

/** The fields written and removed on the way from `before` to `after`; undefined when there are none. */
export function compareObjects(atom: Atom, before: JsonObject, after: JsonObject): Comparison | undefined {
  if (atom.map === undefined) return undefined;
  const { written, removed } = compareMaps(atom.map, before, after);
  return written === undefined && removed === undefined
    ? undefined
    : { written: setOf(written), removed: setOf(removed) };
}

function setOf(tree: FieldsTree | undefined): FieldSet {
  return tree === undefined ? FieldSet.empty : FieldSet.ofTree(tree);
}

function compareMaps(map: MapAtom, before: JsonObject, after: JsonObject): Difference {
  const diff = new Difference();
  for (const [name, left] of Object.entries(before)) {
    const right = after[name];
    if (left === undefined) continue;
    const { element, atom = deducedAtom } = map.field(name);
    if (right === undefined) diff.remove(element, wholeNode(atom, left));
    else compareValues(diff, element, atom, left, right);
  }
  for (const [name, right] of Object.entries(after)) {
    if (right === undefined || before[name] !== undefined) continue;
    const { element, atom = deducedAtom } = map.field(name);
    diff.write(element, wholeNode(atom, right));
  }
  return diff;
}

function compareValues(diff: Difference, element: FieldPathElement, atom: Atom, left: unknown, right: unknown): void {
  if (typeof left !== "object" && typeof right !== "object") {
    if (left !== right) diff.write(element, fieldsLeaf);
    return;
  }
  const child = compareContainers(atom, left, right);
  if (child !== undefined) diff.attach(element, child);
  else if (!deepEqual(left, right)) diff.write(element, fieldsLeaf);
}

/** Compares two granular maps or associative lists item by item; undefined when the two are one leaf. */
function compareContainers(atom: Atom, left: unknown, right: unknown): Difference | undefined {
  const own = valueKindOf(left);
  const other = valueKindOf(right);
  const kind = own === "null" ? other : own;
  if (other !== kind && other !== "null") return undefined;
  if (kind === "map" && atom.map !== undefined && !atom.map.atomic) {
    const before = isJsonObject(left) ? left : {};
    const after = isJsonObject(right) ? right : {};
    if (isEmpty(before) && isEmpty(after)) return undefined;
    return compareMaps(atom.map, before, after);
  }
  if (kind !== "list" || atom.list === undefined || atom.list.kind === "atomic") return undefined;
  const before: readonly unknown[] = Array.isArray(left) ? left : [];
  const after: readonly unknown[] = Array.isArray(right) ? right : [];
  if (before.length === 0 && after.length === 0) return undefined;
  return compareLists(atom.list, before, after);
}

function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0;
}

function compareLists(list: ListAtom, before: readonly unknown[], after: readonly unknown[]): Difference {
  const diff = new Difference();
  const left = groupItems(list, before);
  const right = groupItems(list, after);
  for (const [element, items] of left) compareItems(diff, list, element, items, right.get(element) ?? []);
  for (const [element, items] of right) if (!left.has(element)) compareItems(diff, list, element, [], items);
  return diff;
}

/** Items that one element names; more than one are duplicates, which are one leaf together. */
function compareItems(
  diff: Difference,
  list: ListAtom,
  element: FieldPathElement,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) diff.write(element, fieldsLeaf);
  } else if (before.length > 1) {
    if (after.length > 0) diff.write(element, wholeNode(list.item, after[0]));
    diff.remove(element, fieldsLeaf);
  } else if (after.length > 1) {
    if (before.length > 0) diff.remove(element, wholeNode(list.item, before[0]));
    diff.write(element, fieldsLeaf);
  } else if (before.length === 0) diff.write(element, wholeNode(list.item, after[0]));
  else if (after.length === 0) diff.remove(element, wholeNode(list.item, before[0]));
  else compareValues(diff, element, list.item, before[0], after[0]);
}

/** The node of a value that is new or gone as a whole: itself and everything in it. */
export function wholeNode(atom: Atom, value: unknown): FieldsTree {
  if (typeof value !== "object" || value === null) return fieldsLeaf;
  if (Array.isArray(value)) return atom.list === undefined ? fieldsLeaf : wholeList(atom.list, value);
  if (!isJsonObject(value) || atom.map === undefined || atom.map.atomic || isEmpty(value)) return fieldsLeaf;
  const draft = new TreeDraft(true);
  for (const name of Object.keys(value)) {
    const child = value[name];
    if (child === undefined) continue;
    const field = atom.map.field(name);
    draft.add(field.element, wholeNode(field.atom ?? deducedAtom, child));
  }
  return draft.tree();
}

function wholeList(list: ListAtom, items: readonly unknown[]): FieldsTree {
  if (list.kind === "atomic" || items.length === 0) return fieldsLeaf;
  const draft = new TreeDraft(true);
  for (const [element, group] of groupItems(list, items)) {
    draft.add(element, group.length > 1 ? fieldsLeaf : wholeNode(list.item, group[0]));
  }
  return draft.tree();
}
