/** Frames of a watch. Watches that show the same event share its frame. */
import type { UnstructuredObject, WatchEventType, WatchFrame } from "@setpoint/apimachinery";
import type { StorageEvent } from "../storage/storage.ts";

type ObjectEventType = Extract<WatchEventType, "ADDED" | "MODIFIED" | "DELETED">;

/**
 * The newest frame: an event goes to all of its watches before the next one, so remembering one shares it
 * among them.
 */
let newest: WatchFrame | undefined;

/** A frame of this type for this object; watches that show the same event one after the other share it. */
export function frameOf(type: ObjectEventType, object: object): WatchFrame {
  if (newest?.object !== object || newest.type !== type) newest = Object.freeze({ type, object });
  return newest;
}

/**
 * The object before an event with the revision of the event: what a watch shows as deleted when the object
 * stopped matching its selector.
 */
export function previousAt(event: StorageEvent, previous: UnstructuredObject): UnstructuredObject {
  const metadata = Object.freeze({ ...previous.metadata, resourceVersion: String(event.revision) });
  return Object.freeze({ ...previous, metadata });
}
