/**
 * The data of one instance in the model: its log, which decides everything, and the history of its timelines.
 * The rules are those that were measured on real servers.
 */
import type { ServerLimits } from "../instance/server-limits.ts";
import type { ServerSettings } from "../instance/instance-protocol.ts";

/** One entry of the log. */
export interface LogRecord {
  /** Where it ends, in bytes. */
  readonly end: number;
  readonly timeline: number;
  /** Different for any two records that were ever written, as their contents would be. */
  readonly serial: number;
  /** The write of a client that it commits. */
  readonly commit?: string | undefined;
}

/** A timeline that ended at a position, where another one begins. */
export interface Ancestor {
  readonly timeline: number;
  readonly end: number;
}

export interface Configuration {
  readonly settings: ServerSettings;
  readonly name: string;
  /** The host of the primary; absent for the primary itself. */
  readonly follows?: string | undefined;
}

/** The control file: the last checkpoint. */
export interface Checkpoint {
  readonly timeline: number;
  readonly position: number;
}

export const logStart = 0x1000000;

export class InstanceData {
  readonly systemId: string;
  readonly records: LogRecord[];
  ancestors: readonly Ancestor[];
  checkpoint: Checkpoint;
  /** Whether a server that starts on the data follows a primary. */
  isStandby: boolean;
  /** A copy or rewound data can be used once the log up to here is there. */
  consistentAt: number;
  configuration: Configuration | undefined;
  /** Of the primary, as its log says. */
  limits: ServerLimits;
  #timeline: number;

  constructor(systemId: string, from?: InstanceData) {
    this.systemId = systemId;
    this.records = [...(from?.records ?? [])];
    this.ancestors = from?.ancestors ?? [];
    this.checkpoint = from?.checkpoint ?? { timeline: 1, position: logStart };
    this.isStandby = from?.isStandby ?? false;
    this.consistentAt = from?.consistentAt ?? logStart;
    this.configuration = from?.configuration;
    this.limits = from?.limits ?? {};
    this.#timeline = from?.timeline ?? 1;
  }

  /** That of the newest record. */
  get timeline(): number {
    return this.#timeline;
  }

  get end(): number {
    return this.records.at(-1)?.end ?? logStart;
  }

  append(bytes: number, serial: number, commit?: string): LogRecord {
    const record = { end: this.end + bytes, timeline: this.#timeline, serial, commit };
    this.records.push(record);
    return record;
  }

  /** What a replica receives from the server of `other`; it learns of new timelines with their records. */
  receive(other: InstanceData): void {
    const from = other.records.findLastIndex(({ end }) => end <= this.end) + 1;
    this.records.push(...other.records.slice(from));
    this.limits = other.limits;
    if (this.#timeline === other.timeline) return;
    this.#timeline = other.timeline;
    this.ancestors = other.ancestors;
  }

  /** The end of recovery begins a timeline of the next number that these data know of. */
  beginTimeline(): void {
    this.ancestors = [...this.ancestors, { timeline: this.#timeline, end: this.end }];
    this.#timeline = Math.max(...this.ancestors.map(({ timeline }) => timeline)) + 1;
    this.isStandby = false;
  }

  /** Up to where these data have a timeline; undefined when it is not in their history. */
  endOf(timeline: number): number | undefined {
    if (timeline === this.#timeline) return this.end;
    return this.ancestors.find((each) => each.timeline === timeline)?.end;
  }

  /** Takes back what comes after a position, and continues with the history of `other`. */
  rewindTo(position: number, other: InstanceData): void {
    while (this.end > position) this.records.pop();
    this.#timeline = this.records.at(-1)?.timeline ?? 1;
    this.ancestors = other.ancestors.filter(({ timeline }) => timeline < this.#timeline);
    this.checkpoint = other.checkpoint;
    this.consistentAt = other.end;
  }

  /** The record at a position of the log. */
  at(position: number): LogRecord | undefined {
    return this.records.findLast(({ end }) => end <= position);
  }
}

/** Why a server does not send its log to a replica; undefined: it does. It compares numbers, not contents. */
export function streamRefusal(sender: InstanceData, replica: InstanceData): string | undefined {
  if (sender.systemId !== replica.systemId) return "database system identifier differs";
  const limit = sender.endOf(replica.timeline);
  if (limit === undefined) return `requested timeline ${replica.timeline} is not in this server's history`;
  return replica.end > limit ? "requested starting point is not in this server's history" : undefined;
}

/** Where the histories of the data part; undefined when they have nothing in common. */
export function forkOf(source: InstanceData, target: InstanceData): number | undefined {
  const shared = [target.timeline, ...target.ancestors.map(({ timeline }) => timeline).toReversed()];
  const timeline = shared.find((each) => source.endOf(each) !== undefined);
  if (timeline === undefined) return undefined;
  return Math.min(source.endOf(timeline) ?? 0, target.endOf(timeline) ?? 0);
}

/** `0/1000148`. */
export function positionText(position: number): string {
  const low = position % 2 ** 32;
  return `${Math.floor(position / 2 ** 32).toString(16)}/${low.toString(16)}`.toUpperCase();
}
