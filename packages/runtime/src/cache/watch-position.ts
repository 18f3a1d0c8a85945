import { isExpired, isNotFound } from "@setpoint/apimachinery";
import { compareResourceVersions } from "./resource-version.ts";

/** Streaming lists in a row after which the server is asked whether it has gone back in time. */
const vainListsMax = 2;

/** How far a reflector has come, and where its next stream begins. */
export class WatchPosition {
  /** Everything up to here has been told; empty before the first list, and when a new list is due. */
  #resumeFrom = "";
  #newest = "0";
  #silentStreams = 0;
  /** Streaming lists that were begun and have not come to their end, in a row. */
  #vainLists = 0;

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

  /** What a watch from here asks for. */
  start(): { readonly resourceVersion?: string; readonly sendInitialEvents?: true } {
    if (!this.isListDue) return { resourceVersion: this.#resumeFrom };
    // An answer not older than what was seen: another server of the cluster may lag behind.
    return { sendInitialEvents: true, ...(this.hasSeenAny ? { resourceVersion: this.#newest } : {}) };
  }

  /** Streams that overlap after a resume, or a server that repeats itself. */
  isPast(resourceVersion: string): boolean {
    return compareResourceVersions(resourceVersion, this.#newest) < 0;
  }

  /** All up to this revision has been told. */
  advance(resourceVersion: string): void {
    this.#resumeFrom = resourceVersion;
    this.#newest = resourceVersion;
    this.#vainLists = 0;
    this.#silentStreams = 0;
  }

  /** A list is due, of a revision that is not older than what was seen. */
  listNext(): void {
    this.#resumeFrom = "";
  }

  /** What was seen is of a history that is no more: a list is due, of whatever revision. */
  beginAnew(): void {
    this.#newest = "0";
    this.#resumeFrom = "";
  }

  /**
   * A streaming list begins; says whether so many have come to nothing that something else may be the matter: whoever waits for a write
   * breaks each try, before a server that lags, or has gone back, has said so.
   */
  beginStreamingList(): boolean {
    return this.#vainLists++ >= vainListsMax && this.hasSeenAny;
  }

  /** The stream said nothing for too long. */
  fellSilent(): void {
    this.#silentStreams++;
  }

  /** The stream ended with this error. */
  broke(error: unknown): void {
    // Silent twice from the same place: whatever it is that this stream does not tell, a list does.
    const isStuck = this.#silentStreams > 1;
    // A kind that is not served will come with a history of its own.
    if (isStuck || isExpired(error) || isNotFound(error)) this.#resumeFrom = "";
  }
}
