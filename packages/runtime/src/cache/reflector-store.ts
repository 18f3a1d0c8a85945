import type { KubeObject } from "@setpoint/apimachinery";
import type { ObjectScan, Stored } from "@setpoint/client";

/**
 * What a reflector fills, as client-go's ReflectorStore. Calls come in order and never from two streams at
 * once.
 */
export interface ReflectorStore {
  /** The complete set at this revision; objects that it lacks are deleted. */
  replace(objects: readonly Stored<KubeObject>[], resourceVersion: string): void;
  set(object: Stored<KubeObject>): void;
  remove(object: Stored<KubeObject>): void;
  /** The store has all changes up to this revision. */
  progress(resourceVersion: string): void;
  /**
   * The cluster was restored from a backup: the next complete set counts, also where its revisions are older.
   */
  restored(): void;
  /**
   * Starts a complete set whose objects come as bytes; nothing of it shows before `commit`, unless it is the
   * first list.
   */
  stage(): StagedObjects;
  /** A change whose object is bytes; `scan` has just read them; the bytes are valid until this returns. */
  setRaw(bytes: Uint8Array, scan: ObjectScan): void;
  removeRaw(scan: ObjectScan): void;
}

/** A complete set that is still being received. */
export interface StagedObjects {
  /** The bytes are copied. */
  add(bytes: Uint8Array): void;
  remove(bytes: Uint8Array): void;
  /** Replaces the contents of the store, in slices of time. */
  commit(): Promise<void>;
  /** Drops it. */
  discard(): void;
}
