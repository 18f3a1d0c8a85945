/** One server: it accepts entries as a primary, copies them as a replica, and archives them as a primary. */
import type { ArchiveReport } from "@setpoint/data-service";
import type { ListedArchive } from "@setpoint/data-service/agent";
import type { Clock } from "@setpoint/host";
import { z } from "zod";
import { appended, firstStart, forked, forkFile, fullSegment, type LogData, segmentLength } from "./log-data.ts";

/** What a server says of itself. It does not know its role until the operator tells it. */
export const memberReport = z.object({
  role: z.enum(["primary", "replica", "unknown"]),
  timeline: z.int(),
  position: z.int(),
  /** Whom a replica copies from. */
  follows: z.string().optional(),
  archive: z.custom<ArchiveReport>().optional(),
});
export type MemberReport = z.infer<typeof memberReport>;

/** The parts of a server that differ between the real one and that of a test. */
export interface LogServerPorts {
  readonly load: () => LogData;
  /** Resolves when the data are safe. */
  readonly save: (data: LogData) => void;
  /** The data of the server at this address. */
  readonly copy: (address: string, signal: AbortSignal) => Promise<LogData>;
  /** Undefined without a store. */
  readonly archiver: SegmentArchiver | undefined;
  readonly clock: Pick<Clock, "now">;
}

/** As `LogArchiver` of data-service. */
export interface SegmentArchiver {
  archive(name: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  list(signal: AbortSignal): Promise<Pick<ListedArchive, "segments">>;
  report(signal: AbortSignal): Promise<ArchiveReport>;
}

/** Says no to a client, and why. */
export class LogRefusal extends Error {
  override readonly name = "LogRefusal";
}

export class LogServer {
  readonly #ports: LogServerPorts;
  #data: LogData;
  #role: MemberReport["role"] = "unknown";
  #follows: string | undefined;
  /** Where the next segment to archive starts; undefined until the store was asked. */
  #next: number | undefined;
  #archive: ArchiveReport | undefined;

  constructor(ports: LogServerPorts) {
    this.#ports = ports;
    this.#data = ports.load();
  }

  get data(): LogData {
    return this.#data;
  }

  report(): MemberReport {
    const { timeline, entries } = this.#data;
    const known = { role: this.#role, timeline, position: entries.length, follows: this.#follows };
    return this.#archive === undefined ? known : { ...known, archive: this.#archive };
  }

  /** Returns the position of the entry. */
  append(text: string, mark?: string): number {
    if (this.#role !== "primary") throw new LogRefusal(`this member is ${this.#role}: write to the primary`);
    this.#save(appended(this.#data, this.#ports.clock.now(), text, mark));
    return this.#data.entries.length - 1;
  }

  /** Goes on with the timeline that it has, or begins this one. */
  promote(timeline: number): void {
    if (timeline > this.#data.timeline) this.#save(forked(this.#data, timeline));
    if (this.#role !== "primary") this.#next = undefined;
    [this.#role, this.#follows] = ["primary", undefined];
  }

  /** Accepts nothing more, and is a replica when it has copied what the other one has. */
  follow(address: string): void {
    if (this.#follows !== address) this.#role = "unknown";
    [this.#follows, this.#archive] = [address, undefined];
  }

  /** What a server does beside its clients, once. It rejects when the other server or the store fails. */
  async work(signal: AbortSignal): Promise<void> {
    if (this.#follows !== undefined) await this.#copyFrom(this.#follows, signal);
    if (this.#role === "primary" && this.#ports.archiver !== undefined)
      await this.#archiveWith(this.#ports.archiver, signal);
  }

  async #copyFrom(address: string, signal: AbortSignal): Promise<void> {
    const data = await this.#ports.copy(address, signal);
    if (this.#follows !== address) return;
    this.#save(data);
    this.#role = "replica";
  }

  async #archiveWith(archiver: SegmentArchiver, signal: AbortSignal): Promise<void> {
    try {
      this.#next ??= await this.#firstToArchive(archiver, signal);
      for (;;) {
        const segment = fullSegment(this.#data, this.#next);
        if (segment === undefined) break;
        await archiver.archive(...segment, signal);
        this.#next += segmentLength;
      }
    } finally {
      this.#archive = await archiver.report(signal);
    }
  }

  /** A segment that the store lost stays a gap: what is archived is not archived again. */
  async #firstToArchive(archiver: SegmentArchiver, signal: AbortSignal): Promise<number> {
    const file = forkFile(this.#data);
    if (file !== undefined) await archiver.archive(...file, signal);
    const { segments } = await archiver.list(signal);
    const ends = segments.filter(({ timeline }) => timeline === this.#data.timeline).map(({ end }) => Number(end));
    return Math.max(firstStart(this.#data), ...ends);
  }

  #save(data: LogData): void {
    this.#ports.save(data);
    this.#data = data;
  }
}
