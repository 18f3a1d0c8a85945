/**
 * Removes from a merged object the fields that its manager applied last time and not now, unless another owns
 * them.
 */
import type { FieldSet, JsonObject } from "@setpoint/apimachinery";
import type { Atom } from "./atom.ts";
import { fieldSetOfAtom } from "./field-set-of.ts";
import { removeItems, withNamedFields } from "./remove-items.ts";

/** The applied and owned fields by which an object is pruned. */
export interface Ownership {
  /** What the manager applied last time. */
  readonly last: FieldSet;
  /** What it applies now, as the configuration has it. */
  readonly applied: FieldSet;
  readonly others: readonly FieldSet[];
}

/** The merged object without what is gone. */
export function prune(atom: Atom, merged: JsonObject, ownership: Ownership): JsonObject {
  // Whatever the manager applies now stays, and so does what holds it.
  if (ownership.last.difference(ownership.applied).isEmpty) return merged;
  return removeItems(atom, merged, prunedFields(atom, merged, ownership));
}

/**
 * The fields to remove. The three passes are those of structured-merge-diff: remove all of the last set, add
 * back what is owned, add back what the last set did not hold.
 */
function prunedFields(atom: Atom, merged: JsonObject, { last, applied, others }: Ownership): FieldSet {
  const named = (set: FieldSet): FieldSet => withNamedFields(atom, set);
  const owned = named(others.reduce((union, set) => union.union(set), applied));
  const mergedSet = named(fieldSetOfAtom(atom, merged));
  const lastSet = named(last);
  const bare = named(fieldSetOfAtom(atom, removeItems(atom, merged, lastSet)));
  const owning = removeItems(atom, merged, mergedSet.difference(bare.union(owned)));
  const kept = named(fieldSetOfAtom(atom, owning));
  return mergedSet.difference(kept).intersection(lastSet);
}
