/**
 * Removes a set of fields from an object, and completes sets with the named fields in between, for pruning.
 */
import {
  type FieldPathElement,
  FieldSet,
  fieldsLeaf,
  type FieldsTree,
  isJsonObject,
  type JsonObject,
} from "@setpoint/apimachinery";
import { type Atom, deducedAtom, type ListAtom, type MapAtom } from "./atom.ts";
import { itemElement } from "./list-items.ts";

type MutableTree = { [element: FieldPathElement]: FieldsTree };

/**
 * The object without the members of the set. A map or list of which nothing is left becomes null, as
 * upstream.
 */
export function removeItems(atom: Atom, object: JsonObject, set: FieldSet): JsonObject {
  if (set.isEmpty || atom.map === undefined) return object;
  const rest = removeFromMap(atom.map, object, set.toJson());
  return rest ?? {};
}

/** Whether a node is a field of the set itself, and not only a parent of one. */
function isMember(node: FieldsTree): boolean {
  return node["."] !== undefined || Object.keys(node).length === 0;
}

function removeFrom(atom: Atom, value: unknown, tree: FieldsTree): unknown {
  if (Array.isArray(value) && atom.list !== undefined) return removeFromList(atom.list, value, tree);
  if (isJsonObject(value) && atom.map !== undefined) return removeFromMap(atom.map, value, tree);
  return value;
}

function removeFromMap(map: MapAtom, object: JsonObject, tree: FieldsTree): JsonObject | null {
  if (map.atomic) return null;
  const rest: Record<string, unknown> = {};
  for (const name of Object.keys(object)) {
    const { element, atom = deducedAtom } = map.field(name);
    const node = tree[element];
    if (node === undefined) rest[name] = object[name];
    else if (!isMember(node)) rest[name] = removeFrom(atom, object[name], node);
  }
  return Object.keys(rest).length === 0 ? null : rest;
}

function removeFromList(list: ListAtom, items: readonly unknown[], tree: FieldsTree): readonly unknown[] | null {
  if (list.kind === "atomic") return null;
  const rest: unknown[] = [];
  for (const item of items) {
    const node = tree[itemElement(list, item)];
    if (node === undefined) rest.push(item);
    else if (!isMember(node)) rest.push(removeFrom(list.item, item, node));
  }
  return rest.length === 0 ? null : rest;
}

/** The set with every declared field on the way to a member as a member too. */
export function withNamedFields(atom: Atom, set: FieldSet): FieldSet {
  return FieldSet.ofTree(addNamed({}, atom, set.toJson()));
}

/** Adds the children of a node to `children`, in which `.` is already when the node is a member. */
function addNamed(children: MutableTree, atom: Atom, tree: FieldsTree): MutableTree {
  for (const element of Object.keys(tree)) {
    const node = tree[element];
    if (node === undefined || element === ".") continue;
    const isField = element.startsWith("f:");
    const field = isField ? atom.map?.field(element.slice(2)) : undefined;
    const below = isField ? field?.atom : atom.list?.item;
    if (!hasChildren(node)) children[element] = fieldsLeaf;
    else {
      const isNamed = isMember(node) || field?.isDeclared === true;
      children[element] = addNamed(isNamed ? { ".": fieldsLeaf } : {}, below ?? {}, node);
    }
  }
  return children;
}

function hasChildren(node: FieldsTree): boolean {
  return Object.keys(node).some((element) => element !== ".");
}
