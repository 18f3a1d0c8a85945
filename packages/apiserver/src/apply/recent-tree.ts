import { type FieldPathElement, fieldsLeaf, type FieldsTree } from "@setpoint/apimachinery";

/** The children of a node in their order: each element, and after it its node. A member has `.` first. */
export type TreeParts = (FieldPathElement | FieldsTree)[];

/** Larger trees are not kept: they are of maps that nobody's next object has again. */
const partsMax = 512;

interface Made {
  readonly parts: Readonly<TreeParts>;
  readonly tree: FieldsTree;
}

const nothing: Made = { parts: [], tree: fieldsLeaf };

/**
 * The newest trees of one place of a schema. Objects of a kind mostly have the same fields, so the next tree is mostly the last one
 * again: then nothing is made, nothing is left to freeze, and whoever compares two sets is done with what they share at one look.
 */
export class RecentTree {
  #member: Made = nothing;
  #other: Made = nothing;

  /** The tree of these parts. The array is handed over. */
  of(parts: TreeParts): FieldsTree {
    const isMember = parts[0] === ".";
    const last = isMember ? this.#member : this.#other;
    if (isSame(parts, last.parts)) return last.tree;
    const made = { parts, tree: treeOf(parts) };
    if (parts.length > partsMax) return made.tree;
    if (isMember) this.#member = made;
    else this.#other = made;
    return made.tree;
  }
}

function isSame(parts: Readonly<TreeParts>, others: Readonly<TreeParts>): boolean {
  if (parts.length !== others.length) return false;
  for (let index = 0; index < parts.length; index++) if (parts[index] !== others[index]) return false;
  return true;
}

function treeOf(parts: Readonly<TreeParts>): FieldsTree {
  const tree: { [element: FieldPathElement]: FieldsTree } = {};
  for (let index = 0; index < parts.length; index += 2) {
    // Elements are at even places, nodes at odd ones.
    tree[parts[index] as FieldPathElement] = parts[index + 1] as FieldsTree;
  }
  return Object.freeze(tree);
}
