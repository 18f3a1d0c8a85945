/**
 * Sets of field paths. The tree inside is FieldsV1 itself (`{"f:spec":{".":{},"f:replicas":{}}}`), so reading
 * a set from managedFields and writing it back cost nothing, and sets share the parts in which they are
 * equal.
 */
import { compareFieldElements, type FieldPathElement, normalFieldElement } from "./field-path.ts";
import { deepEqual, isJsonObject } from "./json-value.ts";

/**
 * A node of FieldsV1. An empty node is a member without children; a node with children is itself a member
 * when it has the key `.`. The root is never a member.
 */
export type FieldsTree = { readonly [element: string]: FieldsTree };

type MutableTree = { [element: string]: FieldsTree };

/** The node of a member without children. */
export const fieldsLeaf: FieldsTree = Object.freeze({});

/**
 * Trees deeper than this are refused when they come from outside; the API's objects are not nested deeper.
 */
export const fieldsTreeDepthMax = 128;

function isEmptyNode(node: FieldsTree): boolean {
  for (const _ in node) return false;
  return true;
}

function isMember(node: FieldsTree): boolean {
  return node["."] !== undefined || isEmptyNode(node);
}

/** A node from its children, into which `.` was not put yet; undefined when there is nothing in it. */
function nodeOf(member: boolean, children: MutableTree): FieldsTree | undefined {
  if (isEmptyNode(children)) return member ? fieldsLeaf : undefined;
  return member ? { ".": fieldsLeaf, ...children } : children;
}

/** Adds the children of both to `children`, in which `.` is already when the node is a member. */
function uniteChildren(children: MutableTree, a: FieldsTree, b: FieldsTree): MutableTree {
  for (const element in a) {
    const left = a[element];
    if (element === "." || left === undefined) continue;
    const right = b[element];
    children[element] = right === undefined ? left : unionNodes(left, right);
  }
  for (const element in b) {
    const right = b[element];
    if (element !== "." && right !== undefined && a[element] === undefined) children[element] = right;
  }
  return children;
}

function unionNodes(a: FieldsTree, b: FieldsTree): FieldsTree {
  if (a === b) return a;
  if (!hasOtherThanDot(a) && !hasOtherThanDot(b)) return fieldsLeaf;
  return uniteChildren(isMember(a) || isMember(b) ? { ".": fieldsLeaf } : {}, a, b);
}

function intersectionChildren(a: FieldsTree, b: FieldsTree): MutableTree {
  const children: MutableTree = {};
  for (const element in a) {
    const left = a[element];
    const right = b[element];
    if (element === "." || left === undefined || right === undefined) continue;
    const node = intersectionNodes(left, right);
    if (node !== undefined) children[element] = node;
  }
  return children;
}

function intersectionNodes(a: FieldsTree, b: FieldsTree): FieldsTree | undefined {
  if (a === b) return a;
  return nodeOf(isMember(a) && isMember(b), intersectionChildren(a, b));
}

/** The children of `a` without the members of `b`; `a` itself when nothing was removed. */
function differenceChildren(a: FieldsTree, b: FieldsTree, deep: boolean): FieldsTree {
  const children: MutableTree = {};
  let isChanged = false;
  for (const [element, left] of Object.entries(a)) {
    const right = element === "." ? undefined : b[element];
    const node = right === undefined ? left : differenceNodes(left, right, deep);
    if (node !== undefined) children[element] = node;
    if (node !== left) isChanged = true;
  }
  return isChanged ? children : a;
}

function differenceNodes(a: FieldsTree, b: FieldsTree, deep: boolean): FieldsTree | undefined {
  if (a === b && !deep) return undefined;
  if (deep && isMember(b)) return undefined;
  const children = differenceChildren(a, b, deep);
  const wasMember = isMember(a);
  const member = wasMember && !isMember(b);
  if (member === wasMember) {
    if (children === a) return a;
    // `.` is among the children of a member already.
    return hasOtherThanDot(children) ? children : nodeOf(member, {});
  }
  return nodeOf(member, withoutDot(children));
}

function hasOtherThanDot(node: FieldsTree): boolean {
  for (const element in node) if (element !== ".") return true;
  return false;
}

function withoutDot(node: FieldsTree): MutableTree {
  const children: MutableTree = {};
  for (const element in node) {
    const child = node[element];
    if (element !== "." && child !== undefined) children[element] = child;
  }
  return children;
}

function normalTree(json: unknown, depth: number): FieldsTree | undefined {
  if (!isJsonObject(json) || depth > fieldsTreeDepthMax) return undefined;
  const children: MutableTree = {};
  for (const key of Object.keys(json)) {
    if (key === ".") continue;
    const element = normalFieldElement(key);
    if (element === undefined) continue;
    const node = normalTree(json[key], depth + 1);
    if (node === undefined) return undefined;
    children[element] = node;
  }
  // Unknown elements are dropped with what is below them, as upstream does; a node of only such elements is
  // empty.
  return nodeOf("." in json || Object.keys(json).length === 0, children) ?? fieldsLeaf;
}

function walk(tree: FieldsTree, path: FieldPathElement[], visit: (path: readonly FieldPathElement[]) => void): void {
  const elements = Object.keys(tree)
    .filter((element) => element !== ".")
    .sort(compareFieldElements);
  for (const element of elements) {
    const node = tree[element];
    if (node !== undefined && isMember(node)) visit([...path, element]);
  }
  for (const element of elements) {
    const node = tree[element];
    if (node === undefined || isEmptyNode(node)) continue;
    path.push(element);
    walk(node, path, visit);
    path.pop();
  }
}

/** The tree itself when nothing has to move; clients compare the text of two entries. */
function inOrder(tree: FieldsTree): FieldsTree {
  const elements = Object.keys(tree);
  const sorted = elements.toSorted(compareWritten);
  const children = sorted.map((element) => inOrder(tree[element] ?? fieldsLeaf));
  const isSame = sorted.every((element, i) => element === elements[i] && children[i] === tree[element]);
  return isSame ? tree : Object.fromEntries(sorted.map((element, i) => [element, children[i] ?? fieldsLeaf]));
}

function compareWritten(a: FieldPathElement, b: FieldPathElement): number {
  if (a === "." || b === ".") return Number(b === ".") - Number(a === ".");
  return compareFieldElements(a, b);
}

/**
 * An immutable set of field paths.
 *
 * Guarantees: the tree given and the one handed out are never changed; operations that change nothing return
 * the same set.
 */
export class FieldSet {
  static readonly empty: FieldSet = new FieldSet({});

  readonly #tree: FieldsTree;

  private constructor(tree: FieldsTree) {
    this.#tree = tree;
  }

  /** Takes a FieldsV1 that this module wrote before; elements are trusted to be in normal form. */
  static ofTree(tree: FieldsTree): FieldSet {
    return isEmptyNode(tree) ? FieldSet.empty : new FieldSet(tree);
  }

  /**
   * Reads a FieldsV1 from outside; undefined when it is not a tree of objects. Unknown kinds of elements are
   * dropped.
   */
  static fromJson(json: unknown): FieldSet | undefined {
    const tree = normalTree(json, 0);
    return tree === undefined ? undefined : FieldSet.ofTree(tree);
  }

  static of(...paths: readonly (readonly FieldPathElement[])[]): FieldSet {
    let set = FieldSet.empty;
    for (const path of paths) {
      const tree = path.reduceRight<FieldsTree>((node, element) => ({ [element]: node }), fieldsLeaf);
      set = set.union(FieldSet.ofTree(tree));
    }
    return set;
  }

  get isEmpty(): boolean {
    return isEmptyNode(this.#tree);
  }

  /** The set as FieldsV1, in the order in which the API server writes it. */
  toJson(): FieldsTree {
    return inOrder(this.#tree);
  }

  has(path: readonly FieldPathElement[]): boolean {
    let node: FieldsTree | undefined = this.#tree;
    for (const element of path) {
      node = node[element];
      if (node === undefined) return false;
    }
    return path.length > 0 && isMember(node);
  }

  /** Whether any member lies at or below this path. */
  hasPrefix(path: readonly FieldPathElement[]): boolean {
    let node: FieldsTree | undefined = this.#tree;
    for (const element of path) {
      node = node[element];
      if (node === undefined) return false;
    }
    return true;
  }

  union(other: FieldSet): FieldSet {
    if (this === other || other.isEmpty) return this;
    if (this.isEmpty) return other;
    return FieldSet.ofTree(uniteChildren({}, this.#tree, other.#tree));
  }

  intersection(other: FieldSet): FieldSet {
    return this === other ? this : FieldSet.ofTree(intersectionChildren(this.#tree, other.#tree));
  }

  /** The members of this set that are not members of the other; members below a removed one stay. */
  difference(other: FieldSet): FieldSet {
    const tree = differenceChildren(this.#tree, other.#tree, false);
    return tree === this.#tree ? this : FieldSet.ofTree(tree);
  }

  /** Like `difference`, and what lies below a member of the other goes too. */
  recursiveDifference(other: FieldSet): FieldSet {
    const tree = differenceChildren(this.#tree, other.#tree, true);
    return tree === this.#tree ? this : FieldSet.ofTree(tree);
  }

  equals(other: FieldSet): boolean {
    return this === other || deepEqual(this.#tree, other.#tree);
  }

  /** All members, in the order of the API server's messages: those of a level before those below it. */
  paths(): readonly (readonly FieldPathElement[])[] {
    const paths: (readonly FieldPathElement[])[] = [];
    walk(this.#tree, [], (path) => paths.push(path));
    return paths;
  }
}
