import { deepEqual, type KubeObject, type OwnerReference } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";

export interface GraphNode {
  readonly kind: KindRef;
  readonly object: Stored<KubeObject>;
}

/** Who owns whom, by UID. Owners may be unknown: a reference is kept until the object that has it goes away. */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  set(kind: KindRef, object: Stored<KubeObject>): void {
    const { uid } = object.metadata;
    const before = this.#nodes.get(uid);
    const hasSameOwners = before !== undefined && deepEqual(ownersOf(before.object), ownersOf(object));
    if (!hasSameOwners) this.#forgetOwners(uid);
    this.#nodes.set(uid, { kind, object });
    if (hasSameOwners) return;
    for (const owner of ownersOf(object)) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set();
      this.#dependents.set(owner.uid, dependents.add(uid));
    }
  }

  delete(uid: string): void {
    this.#forgetOwners(uid);
    this.#nodes.delete(uid);
  }

  dependentsOf(uid: string): readonly GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((each) => this.#nodes.get(each) ?? []);
  }

  #forgetOwners(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node === undefined) return;
    for (const owner of ownersOf(node.object)) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
  }
}

export function ownersOf(object: KubeObject): readonly OwnerReference[] {
  return object.metadata.ownerReferences ?? [];
}
