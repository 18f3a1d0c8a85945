import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { DeleteOptions } from "../request/delete-options.ts";
import type { Strategy } from "../registry/resource-definition.ts";

type PropagationOptions = Pick<DeleteOptions, "propagationPolicy" | "orphanDependents">;

const orphan = "orphan";
const foreground = "foregroundDeletion";

/** The finalizers that a deletion with these options leaves, and whether that changes the object. */
export function finalizersForDeletion(
  object: UnstructuredObject,
  options: PropagationOptions,
  strategy: Strategy,
): { readonly finalizers: readonly string[]; readonly changed: boolean } {
  const before = object.metadata.finalizers ?? [];
  const wantsOrphan = orphansDependents(before, options, strategy);
  const wantsForeground = waitsForDependents(before, options);
  const isRight = before.includes(orphan) === wantsOrphan && before.includes(foreground) === wantsForeground;
  if (isRight) return { finalizers: before, changed: false };
  const finalizers = before.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  if (wantsOrphan) finalizers.push(orphan);
  if (wantsForeground) finalizers.push(foreground);
  return { finalizers, changed: true };
}

function orphansDependents(before: readonly string[], options: PropagationOptions, strategy: Strategy): boolean {
  if (options.orphanDependents !== undefined) return options.orphanDependents;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === "Orphan";
  if (before.includes(foreground)) return false;
  return before.includes(orphan) || strategy.defaultPropagation === "Orphan";
}

function waitsForDependents(before: readonly string[], options: PropagationOptions): boolean {
  if (options.orphanDependents !== undefined) return false;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === "Foreground";
  return before.includes(foreground);
}
