/** Ownership between objects. */
import type { KubeObject, OwnerReference } from "./object.ts";

/** The optional fields of an owner reference. */
export interface OwnerReferenceOptions {
  /** Whether the owner is the one that controls the object; an object has at most one such owner. */
  readonly controller?: boolean;
  /** Whether the owner's foreground deletion waits for the object. */
  readonly blockOwnerDeletion?: boolean;
}

/** The owner that controls an object. */
export function controllerOf(object: Pick<KubeObject, "metadata">): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** A reference to `owner`, which the server must have stored (it needs a uid). */
export function ownerReferenceTo(
  owner: KubeObject,
  { controller = true, blockOwnerDeletion = controller }: OwnerReferenceOptions = {},
): OwnerReference {
  const { name, uid } = owner.metadata;
  if (name === undefined || uid === undefined) {
    throw new Error(
      `Cannot refer to ${owner.kind} ${JSON.stringify(name ?? "")} as owner: it has no uid, so it is not stored yet`,
    );
  }
  const { apiVersion, kind } = owner;
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion };
}

/** Whether any owner has this uid. */
export function isOwnedBy(object: Pick<KubeObject, "metadata">, uid: string): boolean {
  return object.metadata.ownerReferences?.some((reference) => reference.uid === uid) === true;
}

/** Whether the controlling owner has this uid. */
export function isControlledBy(object: Pick<KubeObject, "metadata">, uid: string): boolean {
  return controllerOf(object)?.uid === uid;
}
