/** The one writer of a mirror's destination: every transaction has the record as its guard. */
import { timestamp, type Clock } from "@setpoint/host";
import type { KeyMapping } from "./key-range.ts";
import type { KeyChange, MirrorDestination } from "./mirror-end.ts";
import { MirrorProblem } from "./mirror-end.ts";
import { type MirrorRecord, parseRecord } from "./mirror-record.ts";

const empty: MirrorRecord = { source: "", revision: 0, sourceRevision: 0, copies: 0, keys: 0, at: "" };

/**
 * Guarantees: of two writers of one record, the one that opened later goes on, and each write of the other
 * rejects with the reason TakenOver and changes nothing.
 */
export class MirrorWriter {
  readonly #destination: MirrorDestination;
  readonly #key: string;
  readonly #clock: Clock;
  #guard: number;
  #record: MirrorRecord;

  private constructor(
    { destination, recordKey, clock, mapping }: WriterOptions,
    found: { readonly record: MirrorRecord | undefined; readonly guard: number },
  ) {
    this.#destination = destination;
    this.#key = recordKey;
    this.#clock = clock;
    this.#guard = found.guard;
    this.#record = { ...(found.record ?? empty), mapping };
  }

  /** Reads the record and writes it again, so that an earlier writer ends. */
  static async open(options: WriterOptions): Promise<MirrorWriter> {
    const found = await options.destination.record(options.recordKey);
    const writer = new MirrorWriter(options, { record: parseRecord(found?.text), guard: found?.revision ?? 0 });
    if (found !== undefined) await writer.write([], {});
    return writer;
  }

  get record(): MirrorRecord {
    return this.#record;
  }

  /** Changes keys and the record together; without room for the record, right after them. */
  async write(changes: readonly KeyChange[], patch: Partial<MirrorRecord>, hasRoom = true): Promise<void> {
    const record = { ...this.#record, ...patch, at: timestamp(this.#clock) };
    const guarded = { recordKey: this.#key, guard: this.#guard, changes };
    const text = hasRoom ? JSON.stringify(record) : undefined;
    const revision = await this.#destination.commit({ ...guarded, ...(text === undefined ? {} : { record: text }) });
    if (revision === undefined)
      throw new MirrorProblem("TakenOver", "Another pod of this mirror has written since, or the record was deleted.");
    if (!hasRoom) return this.write([], patch);
    this.#guard = revision;
    this.#record = record;
  }
}

export interface WriterOptions {
  readonly destination: MirrorDestination;
  readonly recordKey: string;
  readonly clock: Clock;
  readonly mapping: KeyMapping;
}
