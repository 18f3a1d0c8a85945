/** What becomes of a child before it is written: its namespace, its owner, and whose it is. */
import { apiVersionOf, SetpointError, type KubeObject, type OwnerReference } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { controllerOf } from "../cache/store.ts";
import { errNotOwned, TerminalError } from "../errors.ts";

/** The reconciled object and its kind. */
export interface Parent {
  readonly kind: KindRef;
  readonly object: Stored<KubeObject>;
}

/**
 * The namespace of a namespaced object: the given one, else the parent's. Without one a request would go to
 * "default".
 */
export function namespaceOf(kind: KindRef, namespace: string | undefined, parent: Parent): string | undefined {
  if (!kind.namespaced) return undefined;
  const place = namespace ?? parent.object.metadata.namespace;
  if (place !== undefined) return place;
  const owner = `${parent.kind.kind} "${parent.object.metadata.name}"`;
  throw new TerminalError(
    `Cannot place a ${kind.kind}: ${owner} has no namespace; set metadata.namespace of the child`,
  );
}

/** The child in its namespace and, when `isOwned`, with the parent as its controller. */
export function placed<T extends KubeObject>(kind: KindRef, child: T, isOwned: boolean, parent: Parent): T {
  const namespace = namespaceOf(kind, child.metadata.namespace, parent);
  const references = isOwned
    ? [...referencesOfOthers(child, parent), ownerReference(parent, kind, child, namespace)]
    : child.metadata.ownerReferences;
  const metadata = {
    ...child.metadata,
    ...(namespace === undefined ? {} : { namespace }),
    ...(references === undefined ? {} : { ownerReferences: references }),
  };
  return { ...child, metadata };
}

/** A child that is a changed copy of what was read has the reference already. */
function referencesOfOthers({ metadata }: KubeObject, parent: Parent): readonly OwnerReference[] {
  return (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== parent.object.metadata.uid);
}

/** The garbage collector would take a child for an orphan whose owner it cannot find, and delete it. */
function ownerReference(
  parent: Parent,
  childKind: KindRef,
  child: KubeObject,
  namespace: string | undefined,
): OwnerReference {
  const { kind, object } = parent;
  const what = `${childKind.kind} "${child.metadata.name ?? ""}" by ${kind.kind} "${object.metadata.name}"`;
  const advice = "pass `owner: false` and delete it in `cleanup`";
  if (kind.namespaced && !childKind.namespaced)
    throw new SetpointError(
      errNotOwned,
      `Cannot own ${what}: the owner of an object without a namespace must have none; ${advice}`,
    );
  if (kind.namespaced && namespace !== object.metadata.namespace)
    throw new SetpointError(
      errNotOwned,
      `Cannot own ${what}: it is in namespace "${namespace}" and its owner in "${object.metadata.namespace}"; ${advice}`,
    );
  const { name, uid } = object.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Writing over another owner's object would take it over, and deleting our owner would then delete it. */
export function assertOurs(verb: string, present: Stored<KubeObject>, parent: Parent): void {
  const owner = controllerOf(present);
  if (owner?.uid === parent.object.metadata.uid) return;
  const whose = owner === undefined ? "it has no owner" : `it belongs to ${owner.kind} "${owner.name}" (${owner.uid})`;
  throw new SetpointError(
    errNotOwned,
    `Cannot ${verb} ${present.kind} "${present.metadata.name}": it exists already and ${whose}`,
  );
}

export function nameOf(object: KubeObject): string {
  const { name } = object.metadata;
  if (name !== undefined) return name;
  throw new SetpointError("ERR_NAME_MISSING", `Cannot apply ${object.kind}: it has no metadata.name`);
}

export function keyOf(object: KubeObject): { readonly name: string; readonly namespace?: string } {
  const { namespace } = object.metadata;
  return namespace === undefined ? { name: nameOf(object) } : { name: nameOf(object), namespace };
}
