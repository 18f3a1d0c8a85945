/** The set of fields of an object, as server-side apply computes it for an applied configuration. */
import {
  FieldSet,
  fieldElement,
  fieldsLeaf,
  type FieldsTree,
  isJsonObject,
  type JsonObject,
} from "@setpoint/apimachinery";
import { type Atom, type ListAtom, type MapAtom } from "./atom.ts";
import { groupItems } from "./list-items.ts";
import { TreeDraft } from "./tree-draft.ts";

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

/** Fields without owners: those that identify an object and those that only the server writes. */
export const neverOwned: FieldSet = FieldSet.of(
  [fieldElement("metadata")],
  ...[...unownedRootFields].map((name) => [fieldElement(name)]),
  ...[...unownedMetadataFields].map((name) => [fieldElement("metadata"), fieldElement(name)]),
);

/**
 * The fields of an applied object, including those without owners. Leaves, items of associative lists and
 * keys of free maps are members; named fields in between are not. Errors: `TypedError` for list items without
 * a key.
 */
export function fieldSetOfAtom(atom: Atom, object: unknown): FieldSet {
  return FieldSet.ofTree(nodeOf(atom, object, false) ?? {});
}

/**
 * The node of a value; undefined when neither it, of which the caller knows, nor anything in it is a member.
 */
function nodeOf(atom: Atom, value: unknown, member: boolean): FieldsTree | undefined {
  if (Array.isArray(value) && atom.list !== undefined) return listNode(atom.list, value, member);
  if (isJsonObject(value) && atom.map !== undefined) return mapNode(atom.map, value, member);
  return fieldsLeaf;
}

function listNode(list: ListAtom, items: readonly unknown[], member: boolean): FieldsTree | undefined {
  if (list.kind === "atomic") return fieldsLeaf;
  if (items.length === 0) return member ? fieldsLeaf : undefined;
  const draft = new TreeDraft(member);
  for (const [element, group] of groupItems(list, items)) {
    draft.add(element, group.length > 1 ? fieldsLeaf : (nodeOf(list.item, group[0], true) ?? fieldsLeaf));
  }
  return draft.tree();
}

function mapNode(map: MapAtom, object: JsonObject, member: boolean): FieldsTree | undefined {
  if (map.atomic) return fieldsLeaf;
  const draft = new TreeDraft(member);
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const { element, atom = {}, isDeclared } = map.field(name);
    const node = nodeOf(atom, value, !isDeclared || (isJsonObject(value) && !hasKeys(value)));
    if (node !== undefined) draft.add(element, node);
  }
  if (!draft.isEmpty) return draft.tree();
  return member ? fieldsLeaf : undefined;
}

function hasKeys(object: object): boolean {
  return Object.keys(object).length > 0;
}
