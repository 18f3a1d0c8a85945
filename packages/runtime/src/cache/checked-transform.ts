import { SetpointError, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { errManagerOptions } from "../errors.ts";

/**
 * Changes an object before it is stored; must not change its argument, and must keep name, namespace, uid and
 * resourceVersion.
 */
export type Transform = (object: Stored<KubeObject>) => Stored<KubeObject>;

/**
 * The cache identifies an object and its newest state by these; without them changes would be lost silently.
 */
const identity = ["name", "namespace", "uid", "resourceVersion"] as const;

/** The transform, with an error when it changes or drops a field that the cache itself needs. */
export function checkedTransform(kind: KindRef, transform: Transform): Transform {
  return (object: Stored<KubeObject>) => {
    const next = transform(object);
    const changed = identity.find((field) => next.metadata[field] !== object.metadata[field]);
    if (changed === undefined) return next;
    const message = `Cannot cache ${kind.kind}: the \`transform\` of its cache changes or drops metadata.${changed}, which identifies objects; keep ${identity.join(", ")}`;
    throw new SetpointError(errManagerOptions, message);
  };
}
