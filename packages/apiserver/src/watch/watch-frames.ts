/** Frames of a watch. Equal frames are one object, so whoever encodes them (HTTP) can keep the bytes by identity. */
import type { UnstructuredObject, WatchEventType, WatchFrame } from "@setpoint/apimachinery";
import type { StorageEvent } from "../storage/storage.ts";

type ObjectEventType = Extract<WatchEventType, "ADDED" | "MODIFIED" | "DELETED">;

const framesByType: Readonly<Record<ObjectEventType, WeakMap<object, WatchFrame>>> = {
  ADDED: new WeakMap(),
  MODIFIED: new WeakMap(),
  DELETED: new WeakMap(),
};

/** The one frame of this type for this object; all watches that show it share it. */
export function frameOf(type: ObjectEventType, object: object): WatchFrame {
  const frames = framesByType[type];
  let frame = frames.get(object);
  if (frame === undefined) {
    frame = Object.freeze({ type, object });
    frames.set(object, frame);
  }
  return frame;
}

const lastSeen = new WeakMap<StorageEvent, UnstructuredObject>();

/**
 * The object before an event with the revision of the event: what a watch shows as deleted when the object stopped matching
 * its selector.
 */
export function previousAt(event: StorageEvent, previous: UnstructuredObject): UnstructuredObject {
  let object = lastSeen.get(event);
  if (object === undefined) {
    const metadata = Object.freeze({ ...previous.metadata, resourceVersion: String(event.revision) });
    object = Object.freeze({ ...previous, metadata });
    lastSeen.set(event, object);
  }
  return object;
}
