import type { KubeObject } from "@setpoint/apimachinery";
import type { ControllerDefinition } from "../controller/controller-definition.ts";

/** Which of the author's functions a run calls, as messages name it. */
export type RunName = "Reconcile" | "Cleanup";

/** A cleanup runs while the object is being deleted and has the controller's finalizer. */
export function runNameOf(
  { finalizer, hasCleanup }: Pick<ControllerDefinition, "finalizer" | "hasCleanup">,
  { metadata }: KubeObject,
): RunName {
  const isCleanup = metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
  return isCleanup && hasCleanup ? "Cleanup" : "Reconcile";
}
