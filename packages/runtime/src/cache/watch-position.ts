import { isExpired, isNotFound } from "@setpoint/apimachinery";
import { compareResourceVersions } from "./resource-version.ts";

/**
 * After so many incomplete streaming lists in a row the reflector checks whether the cluster was restored.
 */
const incompleteListsMax = 2;

/** How far a reflector has come, and where its next stream begins. */
export class WatchPosition {
  /** The store has everything up to here; empty before the first list, and when a relist is due. */
  #resumeFrom = "";
  #newest = "0";
  #silentStreams = 0;
  /** Streaming lists in a row that started and did not complete. */
  #incompleteLists = 0;

  /** Empty when a list is due. */
  get resumeFrom(): string {
    return this.#resumeFrom;
  }

  /** Whether the next stream begins with the present objects. */
  get isListDue(): boolean {
    return this.#resumeFrom === "";
  }

  /** The newest revision that was seen; "0" before any. */
  get newest(): string {
    return this.#newest;
  }

  get hasSeenAny(): boolean {
    return this.#newest !== "0";
  }

  /** The options of a watch from here. */
  start(): { readonly resourceVersion?: string; readonly sendInitialEvents?: true } {
    if (!this.isListDue) return { resourceVersion: this.#resumeFrom };
    // Not older than what was seen: another server of the cluster may lag behind.
    return { sendInitialEvents: true, ...(this.hasSeenAny ? { resourceVersion: this.#newest } : {}) };
  }

  /** Streams that overlap after a resume, or a server that repeats itself. */
  isPast(resourceVersion: string): boolean {
    return compareResourceVersions(resourceVersion, this.#newest) < 0;
  }

  /** The store has everything up to this revision. */
  advance(resourceVersion: string): void {
    this.#resumeFrom = resourceVersion;
    this.#newest = resourceVersion;
    this.#incompleteLists = 0;
    this.#silentStreams = 0;
  }

  /** The next stream lists, at a revision that is not older than what was seen. */
  relist(): void {
    this.#resumeFrom = "";
  }

  /** After a restore of the cluster: the next stream lists, at whatever revision. */
  reset(): void {
    this.#newest = "0";
    this.#resumeFrom = "";
  }

  /**
   * A streaming list starts. Returns whether so many did not complete that the cluster may have been
   * restored: a key that waits for its own write breaks each stream before a restored server has answered.
   */
  startStreamingList(): boolean {
    return this.#incompleteLists++ >= incompleteListsMax && this.hasSeenAny;
  }

  /** The stream was silent for too long. */
  timedOut(): void {
    this.#silentStreams++;
  }

  /** The stream ended with this error. */
  broke(error: unknown): void {
    // Silent twice from the same revision: only a list brings what this stream does not.
    const isStuck = this.#silentStreams > 1;
    // A kind that is not served starts from the beginning when it is installed again.
    if (isStuck || isExpired(error) || isNotFound(error)) this.#resumeFrom = "";
  }
}
