import { type FieldPathElement, fieldsLeaf, type FieldsTree } from "@setpoint/apimachinery";

/** The children of a node in their order: each element, and after it its node. */
type TreeParts = (FieldPathElement | FieldsTree)[];

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
  /** That of a node which is a member itself, and has `.` before its children. */
  member: Made = nothing;
  other: Made = nothing;
}

/** A tree on its way: as long as its parts are those of the newest one, they are only counted. */
export class TreeDraft {
  readonly #trees: RecentTree;
  readonly #isMember: boolean;
  readonly #last: Made;
  #length = 0;
  /** All parts, once one of them was another. */
  #parts: TreeParts | undefined;

  constructor(trees: RecentTree, isMember: boolean) {
    this.#trees = trees;
    this.#isMember = isMember;
    this.#last = isMember ? trees.member : trees.other;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(element: FieldPathElement, node: FieldsTree): void {
    const { parts } = this.#last;
    const at = this.#length;
    this.#length = at + 2;
    if (this.#parts === undefined) {
      if (at < parts.length && parts[at] === element && parts[at + 1] === node) return;
      this.#parts = parts.slice(0, at);
    }
    this.#parts.push(element, node);
  }

  /** The tree of what was added. */
  tree(): FieldsTree {
    const { parts, tree } = this.#last;
    if (this.#parts === undefined && this.#length === parts.length && tree !== fieldsLeaf) return tree;
    const own = this.#parts ?? parts.slice(0, this.#length);
    const made = { parts: own, tree: treeOf(own, this.#isMember) };
    if (own.length > partsMax) return made.tree;
    if (this.#isMember) this.#trees.member = made;
    else this.#trees.other = made;
    return made.tree;
  }
}

function treeOf(parts: Readonly<TreeParts>, isMember: boolean): FieldsTree {
  const tree: { [element: FieldPathElement]: FieldsTree } = isMember ? { ".": fieldsLeaf } : {};
  for (let index = 0; index < parts.length; index += 2) {
    // Elements are at even places, nodes at odd ones.
    tree[parts[index] as FieldPathElement] = parts[index + 1] as FieldsTree;
  }
  return Object.freeze(tree);
}
