import { type FieldPathElement, fieldsLeaf, type FieldsTree } from "@setpoint/apimachinery";

/** A node of a set of fields while its children are added. */
export class TreeDraft {
  readonly #tree: { [element: FieldPathElement]: FieldsTree };
  #isEmpty = true;

  /** A member has `.` before its children. */
  constructor(isMember: boolean) {
    this.#tree = isMember ? { ".": fieldsLeaf } : {};
  }

  /** Whether it has no children. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  add(element: FieldPathElement, node: FieldsTree): void {
    this.#tree[element] = node;
    this.#isEmpty = false;
  }

  tree(): FieldsTree {
    return Object.freeze(this.#tree);
  }
}
