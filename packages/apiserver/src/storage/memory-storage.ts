import type { Clock, Logger } from "@setpoint/host";
import type { HistoryLimits } from "./limits.ts";
import { MvccStorage } from "./mvcc-storage.ts";
import type { Storage, StorageContents } from "./storage.ts";

/** A storage whose state can be taken, and given to another one to start from. */
export interface MemoryStorage extends Storage {
  /** Everything that it holds now; the objects are shared and frozen. */
  contents(): StorageContents;
}

/** A storage that forgets everything when it is closed; a write is visible and acknowledged at once. */
export function createMemoryStorage(
  options: { readonly clock: Clock; readonly log: Logger; readonly contents?: StorageContents },
  limits: Partial<HistoryLimits> = {},
): MemoryStorage {
  const { clock, log, contents } = options;
  return new MvccStorage({ clock, log, limits, ...(contents === undefined ? {} : { contents }) });
}
