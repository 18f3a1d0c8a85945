import type { Warnings } from "../response/warnings.ts";
import type { MutableObject } from "../registry/mutable-object.ts";

/** When upstream looks for repeated references, and how its warning says so. */
const stages = { request: "", admitted: " after mutating admission happens" } as const;

/**
 * Drops repeated owner references and returns a warning. Takes time in proportion to their number, which a
 * client chooses.
 */
export function dedupeOwnerReferences(object: MutableObject, warnings: Warnings, stage: keyof typeof stages): void {
  const references = object.metadata.ownerReferences;
  if (references === undefined || references.length < 2) return;
  const kept = new Map<string, (typeof references)[number]>();
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference;
    const text = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (kept.has(text)) {
      warnings.add(
        `.metadata.ownerReferences contains duplicate entries${stages[stage]}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uid}`,
      );
    } else kept.set(text, reference);
  }
  if (kept.size < references.length) object.metadata.ownerReferences = [...kept.values()];
}
