import type { UnstructuredObject } from "@setpoint/apimachinery";

/**
 * A key: the storage prefix of a resource (`/pods`, `/apps/deployments`, `/etcd.setpoint.dev/etcdclusters`)
 * and the path of the object below it (`default/web` or `name`). Lists are in the order of the paths.
 */
export interface StorageKey {
  readonly prefix: string;
  readonly path: string;
}

/** What happened to one key at one revision. Objects are deeply frozen and carry their resourceVersion. */
export interface StorageEvent {
  readonly kind: "put" | "delete";
  readonly revision: number;
  readonly path: string;
  /**
   * The state after a put; for a delete the last state with the revision of the deletion as resourceVersion.
   */
  readonly object: UnstructuredObject;
  /** The state before, absent when the key did not exist. */
  readonly previous?: UnstructuredObject;
  /** About how much of the heap the object takes; absent in a storage whose limits count no bytes. */
  readonly bytes?: number | undefined;
}

/**
 * Decides a write from the newest state of its key: the object to store, `"delete"`, or `"keep"` to write
 * nothing. It runs synchronously and may throw; then nothing is written. The storage sets
 * `metadata.resourceVersion`.
 */
export type StorageDecision = (current: UnstructuredObject | undefined) => UnstructuredObject | "delete" | "keep";

/** The outcome of a write; `changed` is false when the decision left the object as it was. */
export interface StorageResult {
  /** The object as it is now, or the deleted one (with the deletion's revision as its resourceVersion). */
  readonly object: UnstructuredObject | undefined;
  readonly changed: boolean;
}

/** A consistent list: the objects of a prefix as they are at one revision. */
export interface StorageSnapshot {
  readonly revision: number;
  /** In the order of the paths; paths start with `pathPrefix` if one was given. */
  readonly objects: readonly UnstructuredObject[];
}

/** What a storage holds, in bytes; zeros when its limits count no bytes. */
export interface StorageUse {
  readonly storedBytes: number;
  readonly historyBytes: number;
}

/** Everything that a storage holds at one moment, without its history. */
export interface StorageContents {
  readonly revision: number;
  readonly entries: readonly (StorageKey & { readonly object: UnstructuredObject })[];
}

/**
 * A multi-version store with one revision for everything, history for a while, and watches.
 *
 * Guarantees: a write is acknowledged only when it is durable (as far as this storage is); reads and watches
 * never show a write that could still be lost; the events of one watch come in the order of revisions, none
 * left out, none twice; revisions never repeat, also across restarts.
 */
export interface Storage extends AsyncDisposable {
  /** The newest visible revision. */
  readonly revision: number;
  /** Revisions up to and including this one can no longer be read or watched from. */
  readonly compactedRevision: number;
  /** Why the last writes could not be made durable; undefined when they could. */
  readonly writeFailure: unknown;
  /** How much it holds. */
  use(): StorageUse;
  get(key: StorageKey): UnstructuredObject | undefined;
  /**
   * The state that the next write of the key will find: like `get`, with the writes that are not durable yet.
   */
  head(key: StorageKey): UnstructuredObject | undefined;
  /**
   * All objects of a prefix whose path starts with `pathPrefix`, as of `revision` (newest when absent).
   * Throws `ERR_COMPACTED`.
   */
  list(prefix: string, options?: { readonly pathPrefix?: string; readonly revision?: number }): StorageSnapshot;
  /**
   * Objects of a prefix whose writes were decided and may still be lost: nobody is shown them, but what they
   * take is taken.
   */
  decided(prefix: string): readonly UnstructuredObject[];
  write(key: StorageKey, decide: StorageDecision): Promise<StorageResult>;
  /**
   * Calls `onEvent` for every event of the prefix after `afterRevision`, past ones first (synchronously),
   * until cancelled. Throws `ERR_COMPACTED` when `afterRevision` is older than the history. `onProgress` is
   * called with the revision of every write to any prefix, after the events of that revision.
   */
  watch(
    prefix: string,
    afterRevision: number,
    onEvent: (event: StorageEvent) => void,
    onProgress?: (revision: number) => void,
  ): { cancel(): void };
  compact(revision: number): void;
}
