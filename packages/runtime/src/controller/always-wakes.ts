import type { KubeObject } from "@setpoint/apimachinery";
import { allowWritesAnnotation } from "./write-limits.ts";

/** Set to "true" on an object it keeps the controllers from reconciling it. */
export const pausedAnnotation = "setpoint.dev/paused";

export const pausedMessage: string = `Not reconciled while the annotation ${pausedAnnotation} is "true"`;

export function isPaused(object: KubeObject): boolean {
  return object.metadata.annotations?.[pausedAnnotation] === "true";
}

/**
 * Changes that are worth a run whatever the author's predicate says: one that looks at the spec alone would
 * leave an object that is being deleted with its finalizer, and a paused one paused.
 */
export function alwaysWakes({ metadata: old }: KubeObject, { metadata: next }: KubeObject): boolean {
  if (old.uid !== next.uid || old.deletionTimestamp !== next.deletionTimestamp) return true;
  if (old.annotations === next.annotations) return false;
  return [pausedAnnotation, allowWritesAnnotation].some((name) => old.annotations?.[name] !== next.annotations?.[name]);
}
