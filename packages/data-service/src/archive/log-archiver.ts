/** The archiving of one running server, and what it reports of it. */
import type { Clock } from "@setpoint/host";
import type { BaseBackup } from "./archive-window.ts";
import { type ArchiveReport, archiveReport, type ArchivingState } from "./archive-report.ts";
import { timeOf } from "./archive-window.ts";
import { listArchive, type ListedArchive } from "./list-archive.ts";
import { archiveSegment, type LogArchive } from "./log-archive.ts";

/**
 * Stores the segments of a server, and remembers how that went. A server has one for as long as it runs.
 *
 * Guarantees: a segment that `archive` resolved for is in the store. One that it rejected for is to be
 * tried again, and the report says since when and why nothing is stored.
 */
export class LogArchiver {
  readonly #archive: LogArchive;
  readonly #clock: Clock;
  readonly #bases = new Map<string, BaseBackup | undefined>();
  #state: ArchivingState = {};

  constructor(archive: LogArchive, clock: Clock) {
    this.#archive = archive;
    this.#clock = clock;
  }

  /** Stores a segment, or a file that says where a history begins. */
  async archive(name: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    try {
      await archiveSegment(this.#archive, name, bytes, signal);
      this.#state = { lastArchived: { name, at: timeOf(this.#clock.now()) } };
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  /** What the store has of the instance. */
  list(signal: AbortSignal): Promise<ListedArchive> {
    return listArchive(this.#archive, this.#bases, signal);
  }

  /** Lists the store, and says what can be restored from it. */
  async report(signal: AbortSignal): Promise<ArchiveReport> {
    const listed = await this.list(signal);
    return archiveReport(listed, (a, b) => this.#archive.log.compare(a, b), this.#state);
  }

  #noteFailure(error: unknown): void {
    const since = this.#state.failing?.since ?? timeOf(this.#clock.now());
    const message = error instanceof Error ? error.message : String(error);
    this.#state = { ...this.#state, failing: { since, message } };
  }
}
