import type { KubeObject } from "@setpoint/apimachinery";
import { encodeJson } from "@setpoint/apimachinery";
import { asJson } from "./as-json.ts";
import { fingerprint } from "./fingerprint.ts";

/**
 * Children carry a mark of what was applied to them: `<field manager>/<fingerprint>`. After a restart it
 * shows, without a request, which children this controller applied and that nothing is to do.
 */
export const appliedAnnotation = "setpoint.dev/applied";

/**
 * The object with the mark of its own content; a plain copy, in which fields that were undefined do not
 * exist.
 */
export function withAppliedMark<T extends KubeObject>(object: T, fieldManager: string): T {
  const text = encodeJson(object);
  const copy = asJson(object);
  const isRead = copy.metadata.resourceVersion !== undefined;
  const mark = fingerprint(isRead ? encodeJson(asAuthored(copy)) : text);
  const annotations = { ...copy.metadata.annotations, [appliedAnnotation]: `${fieldManager}/${mark}` };
  return { ...copy, metadata: { ...copy.metadata, annotations } };
}

/**
 * What the author says: a changed copy of an object that was read would otherwise have another mark after
 * every write.
 */
function asAuthored(object: KubeObject): KubeObject {
  const { resourceVersion: _r, uid: _u, generation: _g, creationTimestamp: _c, ...metadata } = object.metadata;
  const { [appliedAnnotation]: _mark, ...annotations } = metadata.annotations ?? {};
  return { ...object, metadata: { ...metadata, annotations } };
}

/** A field manager may contain slashes, a fingerprint does not: "a" must not own the children of "a/b". */
export function isAppliedBy(object: KubeObject, fieldManager: string): boolean {
  const mark = object.metadata.annotations?.[appliedAnnotation];
  return mark !== undefined && mark.slice(0, mark.lastIndexOf("/")) === fieldManager;
}
