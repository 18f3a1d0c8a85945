import { type FieldPathElement, fieldsLeaf, type FieldsTree } from "@setpoint/apimachinery";

/** The children of a node in their order: each element, and after it its node. */
type TreeParts = (FieldPathElement | FieldsTree)[];

/** Larger trees are not kept: they come from maps whose keys rarely repeat. */
const partsMax = 512;

interface Made {
  readonly parts: Readonly<TreeParts>;
  readonly tree: FieldsTree;
}

/** How many trees of one place are known: the items of a list, or the objects of a few kinds, take turns. */
const treesMax = 8;

/** The newest trees of one form. */
class Newest {
  readonly made: Made[] = [];
  /** Where the newest is. */
  #last = -1;

  get newest(): Made | undefined {
    return this.#last === -1 ? undefined : this.made[this.#last];
  }

  /** In place of the oldest, when there are enough. */
  add(made: Made): void {
    this.#last = (this.#last + 1) % treesMax;
    if (this.#last === this.made.length) this.made.push(made);
    else this.made[this.#last] = made;
  }
}

/**
 * The newest trees of one place of a schema. Objects of a kind mostly have the same fields, so the next tree
 * mostly equals a recent one. Reusing that one costs no allocation and no freezing, and comparing two sets
 * skips the trees that they share.
 */
export class RecentTree {
  /** Those of nodes which are members themselves, and have `.` before their children. */
  readonly member: Newest = new Newest();
  readonly other: Newest = new Newest();
  /** Those of what was written or removed below a node. */
  readonly change: Newest = new Newest();
}

/** A tree on its way: as long as its parts are those of a tree that is known, they are only counted. */
export class TreeDraft {
  readonly #known: Newest;
  readonly #isMember: boolean;
  /** The known tree that begins as this one does. */
  #like: Made | undefined;
  #length = 0;
  /** All parts, once no known tree begins with them. */
  #parts: TreeParts | undefined;

  constructor(trees: RecentTree, form: "member" | "other" | "change") {
    this.#known = trees[form];
    this.#isMember = form === "member";
    this.#like = this.#known.newest;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(element: FieldPathElement, node: FieldsTree): void {
    const at = this.#length;
    this.#length = at + 2;
    if (this.#parts === undefined) {
      if (this.#like !== undefined && goesOn(this.#like.parts, at, element, node)) return;
      const other = this.#otherLike(at, element, node);
      if (other !== undefined) {
        this.#like = other;
        return;
      }
      this.#parts = this.#like?.parts.slice(0, at) ?? [];
    }
    this.#parts.push(element, node);
  }

  /** The tree of what was added. */
  tree(): FieldsTree {
    const known = this.#parts === undefined ? this.#ofLength() : undefined;
    if (known !== undefined) return known.tree;
    const parts = this.#parts ?? this.#like?.parts.slice(0, this.#length) ?? [];
    const made = { parts, tree: treeOf(parts, this.#isMember) };
    if (parts.length > partsMax) return made.tree;
    this.#known.add(made);
    return made.tree;
  }

  #ofLength(): Made | undefined {
    const length = this.#length;
    if (this.#like?.parts.length === length) return this.#like;
    for (const made of this.#known.made) if (made.parts.length === length && this.#begins(made, length)) return made;
    return undefined;
  }

  #otherLike(at: number, element: FieldPathElement, node: FieldsTree): Made | undefined {
    for (const made of this.#known.made)
      if (goesOn(made.parts, at, element, node) && this.#begins(made, at)) return made;
    return undefined;
  }

  /** Whether the first parts of a known tree are those of this one. */
  #begins({ parts }: Made, length: number): boolean {
    for (let index = 0; index < length; index++) if (parts[index] !== this.#like?.parts[index]) return false;
    return true;
  }
}

function goesOn(parts: Readonly<TreeParts>, at: number, element: FieldPathElement, node: FieldsTree): boolean {
  return at < parts.length && parts[at] === element && parts[at + 1] === node;
}

function treeOf(parts: Readonly<TreeParts>, isMember: boolean): FieldsTree {
  const tree: { [element: FieldPathElement]: FieldsTree } = isMember ? { ".": fieldsLeaf } : {};
  for (let index = 0; index < parts.length; index += 2) {
    // Elements are at even places, nodes at odd ones.
    tree[parts[index] as FieldPathElement] = parts[index + 1] as FieldsTree;
  }
  return Object.freeze(tree);
}
