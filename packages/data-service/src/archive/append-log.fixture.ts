/** An append-only store of test with a log and timelines; a segment of it has four entries. */
import { InvalidSnapshotError } from "../engine/agent.ts";
import type { EngineLog, LogSegmentFacts, TimelineFork } from "../engine/log.ts";
import type { EngineTarget, RestoreTarget } from "../engine/target.ts";

export interface Entry {
  readonly position: number;
  readonly atMs: number;
  readonly text: string;
}

export const segmentLength = 4;

function entriesIn(bytes: Uint8Array): readonly Entry[] {
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as readonly Entry[];
}

function read(name: string, bytes: Uint8Array): LogSegmentFacts {
  const [, timeline = ""] = /^(\d+)-\d+$/.exec(name) ?? [];
  const entries = timeline === "" ? [] : entriesIn(bytes);
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) throw new InvalidSnapshotError(`"${name}" is no segment`);
  return {
    timeline: Number(timeline),
    start: String(first.position),
    end: String(last.position + 1),
    endedAtMs: last.atMs,
  };
}

export const log: EngineLog = {
  read,
  compare: (a, b) => Number(a) - Number(b),
  finds: (bytes, { value }) => entriesIn(bytes).some(({ text }) => text === `mark ${value}`),
};

export const target: EngineTarget = {
  kinds: ["time", "position", "name"],
  refusal: ({ kind, value }) =>
    kind === "position" && !/^\d+$/.test(value) ? `"${value}" is no position: expected a whole number` : undefined,
  replay: (replay) => ({ files: { "recovery.json": JSON.stringify(replay) }, args: [] }),
};

/** One member that accepts appends; a promotion goes on from its entries with a timeline of its own. */
export class AppendLog {
  readonly entries: Entry[] = [];
  readonly timeline: number;
  readonly forks: readonly TimelineFork[];
  #archived = 0;

  constructor(timeline = 1, forks: readonly TimelineFork[] = [], entries: readonly Entry[] = []) {
    this.timeline = timeline;
    this.forks = forks;
    this.entries.push(...entries);
    this.#archived = entries.length;
  }

  /** Positions and minutes are the same number, so that tests can name both. */
  append(...texts: readonly string[]): void {
    for (const text of texts)
      this.entries.push({ position: this.entries.length, atMs: this.entries.length * 60_000, text });
  }

  /** The segments that are full and not taken yet. */
  *fullSegments(): Iterable<readonly [name: string, bytes: Uint8Array]> {
    while (this.entries.length - this.#archived >= segmentLength) {
      const entries = this.entries.slice(this.#archived, this.#archived + segmentLength);
      yield [`${this.timeline}-${String(this.#archived).padStart(6, "0")}`, Buffer.from(JSON.stringify(entries))];
      this.#archived += segmentLength;
    }
  }

  /** A replica that has received so much goes on as a primary. */
  promoted(received: number): AppendLog {
    const timeline = this.timeline + 1;
    const fork = { timeline, parent: this.timeline, at: String(received) };
    return new AppendLog(timeline, [...this.forks, fork], this.entries.slice(0, received));
  }
}

/** As the engine's own recovery does it: a base, then segments in order, up to the target. */
export function replay(
  base: readonly Entry[],
  segments: readonly Uint8Array[],
  end: string,
  { kind, value }: Partial<RestoreTarget> = {},
): readonly string[] {
  const entries = [...base];
  const isPast = ({ position, atMs }: Entry): boolean =>
    position >= Number(end) ||
    (kind === "position" && position >= Number(value)) ||
    (kind === "time" && atMs > Date.parse(value ?? ""));
  for (const entry of segments.flatMap(entriesIn)) {
    if (entry.position < entries.length) entries.length = entry.position;
    if (isPast(entry)) break;
    entries.push(entry);
    if (kind === "name" && entry.text === `mark ${value}`) break;
  }
  return entries.map(({ text }) => text);
}
