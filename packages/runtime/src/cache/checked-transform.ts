import { SetpointError, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { errManagerOptions } from "../errors.ts";
import type { Transform } from "./informer.ts";

/** By these the cache knows an object and which of two states is newer: without them changes would be lost without a word. */
const identity = ["name", "namespace", "uid", "resourceVersion"] as const;

/** The transform, refused in words when it takes away or changes what the cache itself needs. */
export function checkedTransform(kind: KindRef, transform: Transform): Transform {
  return (object: Stored<KubeObject>) => {
    const next = transform(object);
    const changed = identity.find((field) => next.metadata[field] !== object.metadata[field]);
    if (changed === undefined) return next;
    const message = `Cannot cache ${kind.kind}: the \`transform\` of its cache changes or leaves out metadata.${changed}, by which objects are known; keep ${identity.join(", ")}`;
    throw new SetpointError(errManagerOptions, message);
  };
}
