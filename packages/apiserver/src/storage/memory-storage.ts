import type { Clock, Logger } from "@setpoint/host";
import type { HistoryLimits } from "./limits.ts";
import { MvccStorage } from "./mvcc-storage.ts";
import type { Storage } from "./storage.ts";

/** A storage that forgets everything when it is closed; a write is visible and acknowledged at once. */
export function createMemoryStorage(
  options: { readonly clock: Clock; readonly log: Logger },
  limits: Partial<HistoryLimits> = {},
): Storage {
  return new MvccStorage({ clock: options.clock, log: options.log, limits });
}
