import { deepEqual, type KubeObject, type OwnerReference } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";

/**
 * A walk along references that is longer than this counts as one through a circle: a circle that is not found
 * waits for ever, and an owner that goes before the last of so many dependents harms nobody.
 */
const stepsMax = 10_000;

export interface GraphNode {
  readonly kind: KindRef;
  readonly object: Stored<KubeObject>;
}

/**
 * Who owns whom, by UID. Owners may be unknown: a reference is kept until the object that has it goes away.
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** Returns the UIDs of owners that the object blocked until now and blocks no longer. */
  set(kind: KindRef, object: Stored<KubeObject>): readonly string[] {
    const { uid } = object.metadata;
    const before = this.#nodes.get(uid);
    const hasSameOwners = before !== undefined && deepEqual(ownersOf(before.object), ownersOf(object));
    if (!hasSameOwners) this.#forgetOwners(uid);
    this.#nodes.set(uid, { kind, object });
    if (hasSameOwners) return [];
    for (const owner of ownersOf(object)) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set();
      this.#dependents.set(owner.uid, dependents.add(uid));
    }
    return before === undefined ? [] : [...blockedBy(before.object).difference(blockedBy(object))];
  }

  delete(uid: string): void {
    this.#forgetOwners(uid);
    this.#nodes.delete(uid);
  }

  dependentsOf(uid: string): readonly GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((each) => this.#nodes.get(each) ?? []);
  }

  /** The dependents that a foreground deletion of their owner waits for. */
  blockingDependentsOf(uid: string): readonly GraphNode[] {
    return this.dependentsOf(uid).filter(({ object }) =>
      ownersOf(object).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    );
  }

  /** Whether the dependents that block an object lead back to it, each over one that `isPassable`. */
  reachesItself(uid: string, isPassable: (node: GraphNode) => boolean): boolean {
    const seen = new Set<string>();
    const left = [uid];
    let steps = 0;
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      for (const dependent of this.blockingDependentsOf(next)) {
        const found = dependent.object.metadata.uid;
        if (found === uid || ++steps > stepsMax) return true;
        if (seen.has(found) || !isPassable(dependent)) continue;
        seen.add(found);
        left.push(found);
      }
    }
    return false;
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

function blockedBy(object: KubeObject): Set<string> {
  return new Set(ownersOf(object).flatMap(({ uid, blockOwnerDeletion }) => (blockOwnerDeletion === true ? [uid] : [])));
}
