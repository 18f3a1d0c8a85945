/** The limits of a storage. */

export interface HistoryLimits {
  /** Events kept over all prefixes; each holds the object before and after, so this bounds memory. */
  readonly historyEventsMax: number;
  /** Older events are dropped; a real API server compacts after five minutes. */
  readonly historyAgeMsMax: number;
  /**
   * Bytes of the objects in the history; beyond it the oldest events are dropped, and clients that lag behind
   * get 410.
   */
  readonly historyBytesMax: number;
  /**
   * Bytes of the objects that are stored; beyond it writes that add are refused, as etcd does beyond its
   * quota.
   */
  readonly storedBytesMax: number;
}

/** Bytes are not counted by default, which costs nothing; a server derives their limits from its heap. */
export const defaultHistoryLimits: HistoryLimits = {
  historyEventsMax: 100_000,
  historyAgeMsMax: 300_000,
  historyBytesMax: Infinity,
  storedBytesMax: Infinity,
};
