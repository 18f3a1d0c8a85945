/** The limits of a storage's history, by name. */

export interface HistoryLimits {
  /** Events kept over all prefixes; each holds the object before and after, so this bounds memory. */
  readonly historyEventsMax: number;
  /** Older events are dropped; a real API server compacts after five minutes. */
  readonly historyAgeMsMax: number;
}

export const defaultHistoryLimits: HistoryLimits = { historyEventsMax: 100_000, historyAgeMsMax: 300_000 };
