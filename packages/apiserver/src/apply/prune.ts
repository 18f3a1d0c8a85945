/**
 * Removes from a merged object the fields that its manager applied last time and not now, unless another owns
 * them.
 */
import { FieldSet, fieldsLeaf, type FieldsTree, isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import type { Atom } from "./atom.ts";
import { fieldSetOfAtom } from "./field-set-of.ts";
import { isMember, removeItems, withNamedFields } from "./remove-items.ts";

/** The applied and owned fields by which an object is pruned. */
export interface Ownership {
  /** What the manager applied last time. */
  readonly last: FieldSet;
  /** What it applies now, as the configuration has it. */
  readonly applied: FieldSet;
  readonly others: readonly FieldSet[];
}

/**
 * The merged object without what is gone; the very same object when nothing is.
 *
 * Whatever the manager applies now stays, and so does what holds it. So nothing can go but what is no longer
 * applied and what lies within that, and only these parts of the object and of the sets are looked at.
 */
export function prune(atom: Atom, merged: JsonObject, { last, applied, others }: Ownership): JsonObject {
  const gone = last.difference(applied);
  if (gone.isEmpty) return merged;
  const region = regionOf(gone.toJson(), applied.toJson(), merged);
  const within = (set: FieldSet): FieldSet => FieldSet.ofTree(treeWithin(set.toJson(), region));
  const narrow = { last: within(last), applied: within(applied), others: others.map(within) };
  return removeItems(atom, merged, prunedFields(atom, objectWithin(merged, region), narrow));
}

/**
 * The fields to remove. The three passes are those of structured-merge-diff: remove all of the last set, add
 * back what is owned, add back what the last set did not hold.
 */
export function prunedFields(atom: Atom, merged: JsonObject, { last, applied, others }: Ownership): FieldSet {
  const named = (set: FieldSet): FieldSet => withNamedFields(atom, set);
  const owned = named(others.reduce((union, set) => union.union(set), applied));
  const mergedSet = named(fieldSetOfAtom(atom, merged));
  const lastSet = named(last);
  const bare = named(fieldSetOfAtom(atom, removeItems(atom, merged, lastSet)));
  const owning = removeItems(atom, merged, mergedSet.difference(bare.union(owned)));
  const kept = named(fieldSetOfAtom(atom, owning));
  return mergedSet.difference(kept).intersection(lastSet);
}

/** Where something may go: a tree whose leaves stand for all that is below them. Lists are taken whole. */
function regionOf(gone: FieldsTree, applied: FieldsTree, object: JsonObject): FieldsTree {
  const region: { [element: string]: FieldsTree } = {};
  for (const element of Object.keys(gone)) {
    const node = gone[element] ?? fieldsLeaf;
    const still = applied[element];
    const value = object[element.slice(2)];
    const isWhole = still === undefined || isMember(node) || !isJsonObject(value);
    region[element] = isWhole ? fieldsLeaf : regionOf(node, still, value);
  }
  return region;
}

function treeWithin(tree: FieldsTree, region: FieldsTree): FieldsTree {
  if (isMember(region)) return tree;
  const part: { [element: string]: FieldsTree } = tree["."] === undefined ? {} : { ".": fieldsLeaf };
  for (const element of Object.keys(region)) {
    const node = tree[element];
    if (node !== undefined) part[element] = treeWithin(node, region[element] ?? fieldsLeaf);
  }
  return part;
}

function objectWithin(object: JsonObject, region: FieldsTree): JsonObject {
  if (isMember(region)) return object;
  const part: Record<string, unknown> = {};
  for (const element of Object.keys(region)) {
    const name = element.slice(2);
    const value = object[name];
    if (value !== undefined)
      part[name] = isJsonObject(value) ? objectWithin(value, region[element] ?? fieldsLeaf) : value;
  }
  return part;
}
