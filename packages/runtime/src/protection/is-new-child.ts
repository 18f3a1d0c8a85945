import type { PlannedWrite } from "../controller/write-guard.ts";

/** Whether a write makes an object: an apply of one that the cache does not show asks for that by its revision. */
export function isNewChild({ verb, object }: PlannedWrite): boolean {
  return verb === "create" || (verb === "apply" && object.metadata.resourceVersion !== undefined);
}
