/** The data of a server, and how they change; pure. */
import type { TimelineFork } from "@setpoint/data-service";
import { type EngineLog, InvalidSnapshotError, type LogSegmentFacts } from "@setpoint/data-service/agent";
import { z } from "zod";

const entry = z.object({ position: z.int(), atMs: z.int(), text: z.string(), mark: z.string().optional() });
const fork = z.object({ timeline: z.int(), parent: z.int(), at: z.string() });
const logData = z.object({ timeline: z.int(), forks: z.array(fork), entries: z.array(entry) });

export type Entry = z.infer<typeof entry>;
/** All entries, the history that they belong to, and where each one began. */
export type LogData = z.infer<typeof logData>;

export const segmentLength = 4;
export const noData: LogData = { timeline: 1, forks: [], entries: [] };

/** Throws `InvalidSnapshotError` when the text is no whole copy. */
export function parseLogData(text: string): LogData {
  return parsed(logData, text, "it is no copy of an AppendLog");
}

export function appended(data: LogData, nowMs: number, text: string, mark?: string): LogData {
  const atMs = Math.max(nowMs, data.entries.at(-1)?.atMs ?? 0);
  const added = { position: data.entries.length, atMs, text, ...(mark === undefined ? {} : { mark }) };
  return { ...data, entries: [...data.entries, added] };
}

/** A new history that goes on from what is there. */
export function forked({ timeline: parent, forks, entries }: LogData, timeline: number): LogData {
  return { timeline, forks: [...forks, { timeline, parent, at: String(entries.length) }], entries };
}

/** Each begins at a multiple of their length, so the first of a new history repeats the end of its parent. */
export function fullSegment({ timeline, entries }: LogData, start: number): readonly [string, Buffer] | undefined {
  if (entries.length < start + segmentLength) return undefined;
  const name = `${timeline}-${String(start).padStart(6, "0")}`;
  return [name, Buffer.from(JSON.stringify(entries.slice(start, start + segmentLength)))];
}

/** Where the segments of the present history begin. */
export function firstStart({ timeline, forks }: LogData): number {
  const at = Number(forks.find((each) => each.timeline === timeline)?.at ?? 0);
  return at - (at % segmentLength);
}

export function forkFile({ timeline, forks }: LogData): readonly [string, Buffer] | undefined {
  const own = forks.find((each) => each.timeline === timeline);
  return own === undefined ? undefined : [`${timeline}.fork`, Buffer.from(JSON.stringify(own))];
}

export function readFork(bytes: Uint8Array): TimelineFork {
  return parsed(fork, Buffer.from(bytes).toString("utf8"), "it is no fork");
}

export function entriesIn(bytes: Uint8Array): readonly Entry[] {
  return parsed(z.array(entry), Buffer.from(bytes).toString("utf8"), "it is no segment");
}

function parsed<T>(schema: z.ZodType<T>, text: string, otherwise: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new InvalidSnapshotError(otherwise, { cause });
  }
}

function read(name: string, bytes: Uint8Array): LogSegmentFacts {
  const entries = entriesIn(bytes);
  const [first, last] = [entries[0], entries.at(-1)];
  if (!/^\d+-\d+$/.test(name) || first === undefined || last === undefined || entries.length !== segmentLength)
    throw new InvalidSnapshotError(`"${name}" is no whole segment`);
  const [start, end] = [String(first.position), String(last.position + 1)];
  return { timeline: Number.parseInt(name), start, end, endedAtMs: last.atMs };
}

/** The log of the engine "append-log". A position is the number of entries before it. */
export const appendLogSegments: EngineLog = {
  read,
  compare: (a, b) => Number(a) - Number(b),
  fork: (name, bytes) => (name.endsWith(".fork") ? readFork(bytes) : undefined),
  finds: (bytes, { value }) => entriesIn(bytes).some(({ mark }) => mark === value),
};
