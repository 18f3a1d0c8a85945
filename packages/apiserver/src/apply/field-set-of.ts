/** The set of fields that an object has, as server-side apply counts them for the configuration that somebody applies. */
import {
  type FieldPathElement,
  FieldSet,
  fieldElement,
  fieldsLeaf,
  type FieldsTree,
  isJsonObject,
} from "@setpoint/apimachinery";
import { type Atom, type ListAtom, type MapAtom } from "./atom.ts";
import { groupItems } from "./list-items.ts";

type MutableTree = { [element: FieldPathElement]: FieldsTree };

const unownedRootFields: ReadonlySet<string> = new Set(["apiVersion", "kind"]);
const unownedMetadataFields: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
]);

/** Fields that nobody owns: what identifies an object and what the server alone writes. */
export const neverOwned: FieldSet = FieldSet.of(
  [fieldElement("metadata")],
  ...[...unownedRootFields].map((name) => [fieldElement(name)]),
  ...[...unownedMetadataFields].map((name) => [fieldElement("metadata"), fieldElement(name)]),
);

/**
 * The fields of an applied object, with those that nobody owns. Leaves, items of associative lists and keys of free maps are
 * members; named fields in between are not. Errors: `TypedError` for list items without a key.
 */
export function fieldSetOfAtom(atom: Atom, object: unknown): FieldSet {
  return FieldSet.ofTree(nodeOf(atom, object) ?? {});
}

/** The node of a value; undefined when nothing in it is a member. */
function nodeOf(atom: Atom, value: unknown): FieldsTree | undefined {
  if (Array.isArray(value) && atom.list !== undefined) return listNode(atom.list, value);
  if (isJsonObject(value) && atom.map !== undefined) return mapNode(atom.map, value);
  return fieldsLeaf;
}

function listNode(list: ListAtom, items: readonly unknown[]): FieldsTree | undefined {
  if (list.kind === "atomic") return fieldsLeaf;
  const tree: MutableTree = {};
  for (const [element, group] of groupItems(list, items)) {
    tree[element] = group.length > 1 ? fieldsLeaf : asMember(nodeOf(list.item, group[0]));
  }
  return hasKeys(tree) ? tree : undefined;
}

function mapNode(map: MapAtom, object: { readonly [key: string]: unknown }): FieldsTree | undefined {
  if (map.atomic) return fieldsLeaf;
  const tree: MutableTree = {};
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const node = nodeOf(map.field(name) ?? {}, value);
    const member = !map.declares(name) || value === null || (isJsonObject(value) && !hasKeys(value));
    const whole = member ? asMember(node) : node;
    if (whole !== undefined) tree[fieldElement(name)] = whole;
  }
  return hasKeys(tree) ? tree : undefined;
}

function asMember(node: FieldsTree | undefined): FieldsTree {
  return node === undefined || !hasKeys(node) ? fieldsLeaf : { ".": fieldsLeaf, ...node };
}

function hasKeys(object: object): boolean {
  for (const _ in object) return true;
  return false;
}
