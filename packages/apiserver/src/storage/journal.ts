import type { UnstructuredObject } from "@setpoint/apimachinery";

/** One change of one key, as it is made durable. `object` is absent for a deletion. */
export interface JournalEntry {
  readonly prefix: string;
  readonly path: string;
  readonly revision: number;
  readonly object: UnstructuredObject | undefined;
  /** Whether the key did not exist before. */
  readonly isNew?: boolean;
}

/**
 * Where a storage puts what must survive. `commit` returns when all entries are durable, and throws when none
 * is.
 */
export interface Journal {
  /** Everything that was durable when the journal was opened. */
  readonly entries: Iterable<JournalEntry>;
  /** The highest revision that was ever committed. */
  readonly revision: number;
  /** Why it takes no entries; absent when it does. */
  readonly refusal?: Error | undefined;
  commit(entries: readonly JournalEntry[]): void;
  close(): void;
}
