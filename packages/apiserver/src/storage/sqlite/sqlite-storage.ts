import type { Clock, Logger } from "@setpoint/host";
import type { Journal } from "../journal.ts";
import type { HistoryLimits } from "../limits.ts";
import { MvccStorage } from "../mvcc-storage.ts";
import type { Storage } from "../storage.ts";
import { SqliteJournal } from "./sqlite-journal.ts";

/** The directory of the store and how much event history it keeps in memory for watches. */
export interface SqliteStorageOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Created when absent, readable only by its owner. */
  readonly directory: string;
  readonly limits?: Partial<HistoryLimits>;
  /** Why no write is taken, such as a full disk; absent: writes are taken. */
  readonly readsOnly?: Error | undefined;
}

/**
 * Opens a storage that keeps every write it acknowledged, also after kill -9.
 *
 * Errors: `ERR_DATA_DIR_IN_USE` when another process has the directory open, `ERR_DATA_DIR_CORRUPT` when its
 * file cannot be read, `ERR_DATA_DIR_VERSION` when another version of the program wrote it, `ERR_DISK_FULL`.
 * Caveats: a restart loses the event history. A watch from a revision before the start gets a 410, and its
 * client relists.
 */
export function openSqliteStorage(options: SqliteStorageOptions): Storage {
  const { clock, log, limits = {}, directory, readsOnly } = options;
  const journal = new SqliteJournal(directory, log);
  return new MvccStorage({
    ...{ clock, log, limits },
    journal: readsOnly === undefined ? journal : refusing(journal, readsOnly),
  });
}

/** A journal that is only read. */
function refusing(journal: Journal, refusal: Error): Journal {
  return {
    ...{ entries: journal.entries, revision: journal.revision, refusal },
    commit() {
      throw refusal;
    },
    close: () => journal.close(),
  };
}
