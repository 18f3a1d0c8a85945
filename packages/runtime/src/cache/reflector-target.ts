import type { KubeObject } from "@setpoint/apimachinery";
import type { ObjectScan, Stored } from "@setpoint/client";

/** What follows a reflector. Calls come in order and never from two streams at once. */
export interface ReflectorTarget {
  /** The complete set at this revision; what it lacks is gone. */
  replace(objects: readonly Stored<KubeObject>[], resourceVersion: string): void;
  set(object: Stored<KubeObject>): void;
  remove(object: Stored<KubeObject>): void;
  /** All changes up to this revision have been told. */
  progress(resourceVersion: string): void;
  /** All that was told is of a history that is no more: the next complete set counts, also where its revisions are older. */
  restored(): void;
  /** Begins a complete set whose objects come as bytes; before its `commit` nothing of it shows, unless it is the first of all. */
  stage(): StagedObjects;
  /** A change whose object is bytes, which `scan` has just read and which hold until this returns. */
  setRaw(bytes: Uint8Array, scan: ObjectScan): void;
  removeRaw(scan: ObjectScan): void;
}

/** A complete set that is still on its way. */
export interface StagedObjects {
  /** The bytes are copied. */
  add(bytes: Uint8Array): void;
  remove(bytes: Uint8Array): void;
  /** Replaces what the target has, in slices of time. */
  commit(): Promise<void>;
  /** Gives it up. */
  discard(): void;
}
