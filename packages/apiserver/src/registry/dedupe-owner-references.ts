import { deepEqual } from "@setpoint/apimachinery";
import type { Warnings } from "../response/warnings.ts";
import type { MutableObject } from "./mutable-object.ts";

/** Drops repeated owner references and says so in a warning. */
export function dedupeOwnerReferences(object: MutableObject, warnings: Warnings): void {
  const references = object.metadata.ownerReferences;
  if (references === undefined || references.length < 2) return;
  const kept: (typeof references)[number][] = [];
  for (const reference of references) {
    if (kept.some((other) => deepEqual(other, reference))) {
      const uid = reference.uid;
      warnings.add(
        `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uid}`,
      );
    } else kept.push(reference);
  }
  if (kept.length < references.length) object.metadata.ownerReferences = kept;
}
