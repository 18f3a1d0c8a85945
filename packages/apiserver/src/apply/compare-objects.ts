/** What differs between two objects, as sets of fields. The hot path of every write: nothing is allocated for equal parts. */
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
import { TreeDraft } from "./recent-tree.ts";

export interface Comparison {
  /** Those that are new or have another value. */
  readonly written: FieldSet;
  readonly removed: FieldSet;
}

type MutableTree = { [element: FieldPathElement]: FieldsTree };

/** The two trees of a node, made when first written to. */
interface Diff {
  written: MutableTree | undefined;
  removed: MutableTree | undefined;
}

function write(diff: Diff, element: FieldPathElement, node: FieldsTree): void {
  (diff.written ??= {})[element] = node;
}

function remove(diff: Diff, element: FieldPathElement, node: FieldsTree): void {
  (diff.removed ??= {})[element] = node;
}

/** Hangs the differences of a child below `element`. */
function attach(diff: Diff, element: FieldPathElement, child: Diff): void {
  if (child.written !== undefined) write(diff, element, child.written);
  if (child.removed !== undefined) remove(diff, element, child.removed);
}

/** The fields written and removed on the way from `before` to `after`; undefined when there are none. */
export function compareObjects(atom: Atom, before: JsonObject, after: JsonObject): Comparison | undefined {
  const diff: Diff = { written: undefined, removed: undefined };
  if (atom.map !== undefined) compareMaps(diff, atom.map, before, after);
  if (diff.written === undefined && diff.removed === undefined) return undefined;
  return { written: setOf(diff.written), removed: setOf(diff.removed) };
}

function setOf(tree: MutableTree | undefined): FieldSet {
  return tree === undefined ? FieldSet.empty : FieldSet.ofTree(tree);
}

function compareMaps(diff: Diff, map: MapAtom, before: JsonObject, after: JsonObject): void {
  for (const name in before) {
    const left = before[name];
    const right = after[name];
    if (left === right || left === undefined) continue;
    const { element, atom = deducedAtom } = map.field(name);
    if (right === undefined) remove(diff, element, wholeNode(atom, left));
    else compareValues(diff, element, atom, left, right);
  }
  for (const name in after) {
    const right = after[name];
    if (right === undefined || before[name] !== undefined) continue;
    const { element, atom = deducedAtom } = map.field(name);
    write(diff, element, wholeNode(atom, right));
  }
}

const noItems: readonly unknown[] = [];
const noFields: JsonObject = {};

function compareValues(diff: Diff, element: FieldPathElement, atom: Atom, left: unknown, right: unknown): void {
  if (typeof left !== "object" && typeof right !== "object") {
    if (left !== right) write(diff, element, fieldsLeaf);
    return;
  }
  const child: Diff = { written: undefined, removed: undefined };
  if (compareContainers(child, atom, left, right)) attach(diff, element, child);
  else if (!deepEqual(left, right)) write(diff, element, fieldsLeaf);
}

/** Compares two granular maps or associative lists item by item; false when the two are one leaf. */
function compareContainers(diff: Diff, atom: Atom, left: unknown, right: unknown): boolean {
  const own = valueKindOf(left);
  const other = valueKindOf(right);
  const kind = own === "null" ? other : own;
  if (other !== kind && other !== "null") return false;
  if (kind === "map" && atom.map !== undefined && !atom.map.atomic) {
    const before = isJsonObject(left) ? left : noFields;
    const after = isJsonObject(right) ? right : noFields;
    if (isEmpty(before) && isEmpty(after)) return false;
    compareMaps(diff, atom.map, before, after);
    return true;
  }
  if (kind !== "list" || atom.list === undefined || atom.list.kind === "atomic") return false;
  const before = Array.isArray(left) ? left : noItems;
  const after = Array.isArray(right) ? right : noItems;
  if (before.length === 0 && after.length === 0) return false;
  compareLists(diff, atom.list, before, after);
  return true;
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

function compareLists(diff: Diff, list: ListAtom, before: readonly unknown[], after: readonly unknown[]): void {
  const left = groupItems(list, before);
  const right = groupItems(list, after);
  for (const [element, items] of left) compareItems(diff, list, element, items, right.get(element) ?? noItems);
  for (const [element, items] of right) if (!left.has(element)) compareItems(diff, list, element, noItems, items);
}

/** Items that one element names; more than one are duplicates, which are one leaf together. */
function compareItems(
  diff: Diff,
  list: ListAtom,
  element: FieldPathElement,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) write(diff, element, fieldsLeaf);
  } else if (before.length > 1) {
    if (after.length > 0) write(diff, element, wholeNode(list.item, after[0]));
    remove(diff, element, fieldsLeaf);
  } else if (after.length > 1) {
    if (before.length > 0) remove(diff, element, wholeNode(list.item, before[0]));
    write(diff, element, fieldsLeaf);
  } else if (before.length === 0) write(diff, element, wholeNode(list.item, after[0]));
  else if (after.length === 0) remove(diff, element, wholeNode(list.item, before[0]));
  else if (before[0] !== after[0]) compareValues(diff, element, list.item, before[0], after[0]);
}

/** The node of a value that is new or gone as a whole: itself and everything in it. */
export function wholeNode(atom: Atom, value: unknown): FieldsTree {
  if (typeof value !== "object" || value === null) return fieldsLeaf;
  if (Array.isArray(value)) return atom.list === undefined ? fieldsLeaf : wholeList(atom.list, value);
  if (!isJsonObject(value) || atom.map === undefined || atom.map.atomic || isEmpty(value)) return fieldsLeaf;
  const draft = new TreeDraft(atom.map.trees, true);
  // With `for in` V8 (Node 26) compiles this and throws it away without end, 233 times in 650 schedules of the simulated world.
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
  const draft = new TreeDraft(list.trees, true);
  for (const [element, group] of groupItems(list, items)) {
    draft.add(element, group.length > 1 ? fieldsLeaf : wholeNode(list.item, group[0]));
  }
  return draft.tree();
}
