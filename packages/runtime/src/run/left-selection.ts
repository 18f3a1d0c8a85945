import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import { storeKey } from "../cache/store.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { EventRecorder } from "../events/event-recorder.ts";

/**
 * Whether another controller has the object now, nobody here can know: so its user gets an event, and the
 * finalizer stays.
 */
export function reportLeftSelection(
  object: Stored<KubeObject>,
  { name, finalizer }: Pick<ControllerDefinition, "name" | "finalizer">,
  { log, events }: { readonly log: Logger; readonly events: Pick<EventRecorder, "record"> },
): void {
  const message = `The object no longer matches the selector of controller "${name}" and still has its finalizer "${finalizer}": a deletion waits until another controller, or a person, removes it`;
  log.warn("Object has left the selection with the finalizer", { object: storeKey(object.metadata), finalizer });
  events.record(object, name, { type: "Warning", reason: "LeftSelection", message });
}
