/** What the frames of a watch mean, whether their objects come parsed or as bytes. */
import {
  ApiError,
  failure,
  isStatus,
  type KubeObject,
  type RawFrame,
  type WatchEventType,
  type WatchFrame,
} from "@setpoint/apimachinery";
import { ObjectScan, type Stored } from "@setpoint/client";
import { decodeObject } from "./raw/decode-object.ts";
import type { StagedObjects } from "./reflector-store.ts";

const initialEventsEnd = "k8s.io/initial-events-end";

/** Gets the frames of a watch. */
export interface FrameListener {
  /** Called before each frame; throws when the watch is over. */
  onFrame(): void;
  /** A change after the initial set, or a bookmark. */
  onChange(type: WatchEventType, object: Stored<KubeObject>): void;
  onRawChange(type: WatchEventType, bytes: Uint8Array, scan: ObjectScan): void;
  /** All initial events have arrived. */
  onComplete(objects: readonly Stored<KubeObject>[], resourceVersion: string): void;
  onRawComplete(staged: StagedObjects, resourceVersion: string): Promise<void>;
}

/**
 * `isInitial`: the stream begins with the present objects, which count when their end is marked and not
 * before.
 */
export async function followFrames(
  frames: AsyncIterable<WatchFrame>,
  isInitial: boolean,
  listener: FrameListener,
): Promise<void> {
  let collecting = isInitial ? new Map<string, Stored<KubeObject>>() : undefined;
  for await (const frame of frames) {
    listener.onFrame();
    if (frame.type === "ERROR") throw errorOf(frame.object);
    // The parsing border: all frames but errors carry objects of the watched kind.
    const object = frame.object as Stored<KubeObject>;
    if (collecting === undefined) listener.onChange(frame.type, object);
    else if (frame.type !== "BOOKMARK") collect(collecting, frame.type, object);
    else if (isEndOfInitial(object)) {
      listener.onComplete([...collecting.values()], object.metadata.resourceVersion);
      collecting = undefined;
    }
  }
}

/** The same for frames whose objects are bytes; `staged` collects the initial events. */
export async function followRawFrames(
  batches: AsyncIterable<readonly RawFrame[]>,
  staged: StagedObjects | undefined,
  listener: FrameListener,
): Promise<void> {
  const scan = new ObjectScan();
  let collecting = staged;
  for await (const batch of batches) {
    for (const { type, object: bytes } of batch) {
      listener.onFrame();
      if (type === "ERROR") throw errorOf(decodeObject(bytes));
      if (type !== "BOOKMARK") {
        if (collecting !== undefined) {
          if (type === "DELETED") collecting.remove(bytes);
          else collecting.add(bytes);
        } else if (scan.scan(bytes)) listener.onRawChange(type, bytes, scan);
        else listener.onChange(type, decodeObject(bytes));
        continue;
      }
      const bookmark = decodeObject(bytes);
      if (collecting === undefined) listener.onChange(type, bookmark);
      else if (isEndOfInitial(bookmark)) {
        await listener.onRawComplete(collecting, bookmark.metadata.resourceVersion);
        collecting = undefined;
      }
    }
  }
}

function isEndOfInitial(bookmark: Stored<KubeObject>): boolean {
  return bookmark.metadata.annotations?.[initialEventsEnd] === "true";
}

function collect(objects: Map<string, Stored<KubeObject>>, type: WatchEventType, object: Stored<KubeObject>): void {
  const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
  if (type === "DELETED") objects.delete(key);
  else objects.set(key, object);
}

function errorOf(object: unknown): ApiError {
  return new ApiError(isStatus(object) ? object : failure(500, "InternalError", "the watch ended with an error"));
}
