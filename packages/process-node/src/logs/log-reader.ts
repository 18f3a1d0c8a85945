/**
 * Reads container logs as the log subresource gives them, from the end or from a time, and follows them,
 * piece by piece.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { type Clock, nextTurn, sleep } from "@setpoint/host";
import { entryText, rotatedFile } from "./container-log.ts";

export interface LogOptions {
  readonly follow: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  readonly sinceMs?: number;
  readonly limitBytes?: number;
}

const followPollMs = 200;
/** Longer than any entry: container monitors cut lines at a few kilobytes. */
const pieceBytes = 64 * 1024;
const lineEnd = 10;

/** Ends with the log: at once without `follow`, else when `isOver` returns true and everything is read. */
export async function* readLog(
  clock: Clock,
  file: string,
  options: LogOptions,
  isOver: () => boolean,
  signal: AbortSignal,
): AsyncIterable<string> {
  let budget = options.limitBytes ?? Number.POSITIVE_INFINITY;
  const cut = (text: string): string => {
    const bytes = Buffer.from(text);
    const rest = budget;
    budget -= Math.min(bytes.length, budget);
    return bytes.length <= rest ? text : wholeCharacters(bytes.subarray(0, rest));
  };
  for await (const lines of linesOf(clock, file, options, isOver, signal)) {
    const text = lines.map((line) => render(line, options)).join("");
    if (text !== "") yield cut(text);
    if (budget <= 0) return;
  }
}

/** Entries of the log, some at a time, so that a long log neither fills the memory nor blocks the agent. */
async function* linesOf(
  clock: Clock,
  file: string,
  { follow, tailLines }: LogOptions,
  isOver: () => boolean,
  signal: AbortSignal,
): AsyncIterable<readonly string[]> {
  const files = [rotatedFile(file), file].filter((each) => existsSync(each)).map((each) => new OpenLog(each));
  try {
    if (tailLines !== undefined) skipToTail(files, tailLines);
    const last = files.at(-1)?.file === file ? files.pop() : undefined;
    for (const rotated of files) for (const lines of rotated.toEnd()) yield await turn(clock, lines);
    let current = last;
    for (;;) {
      const wasOver = !follow || isOver() || signal.aborted;
      if (current !== undefined) for (const lines of current.toEnd()) yield await turn(clock, lines);
      if (current === undefined || current.isReplaced) {
        current?.close();
        current = existsSync(file) ? new OpenLog(file) : undefined;
        if (current !== undefined) {
          files.push(current);
          continue;
        }
      }
      if (wasOver) return;
      await sleep(clock, followPollMs, signal).catch(() => {});
    }
  } finally {
    for (const each of files) each.close();
  }
}

async function turn<T>(clock: Clock, value: T): Promise<T> {
  await nextTurn(clock);
  return value;
}

/** A log file that stays the same one, whatever takes its name. */
class OpenLog {
  readonly file: string;
  readonly #descriptor: number;
  readonly #inode: number;
  #offset = 0;
  #isClosed = false;

  constructor(file: string) {
    this.file = file;
    this.#descriptor = openSync(file, "r");
    this.#inode = fstatSync(this.#descriptor).ino;
  }

  /** Whether its name belongs to another file now. */
  get isReplaced(): boolean {
    const there = statSync(this.file, { throwIfNoEntry: false });
    return there !== undefined && there.ino !== this.#inode;
  }

  /** Complete entries from where the last call ended. */
  *toEnd(): Iterable<readonly string[]> {
    for (;;) {
      const bytes = this.#read(this.#offset, pieceBytes);
      const end = bytes.lastIndexOf(lineEnd) + 1;
      if (end === 0) return;
      this.#offset += end;
      yield bytes.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
    }
  }

  /** Begins `count` lines before the end, or at the start; returns how many lines that are. */
  skipToTail(count: number): number {
    let lines = 0;
    let from = fstatSync(this.#descriptor).size;
    this.#offset = from;
    while (from > 0) {
      const start = Math.max(0, from - pieceBytes);
      const bytes = this.#read(start, from - start);
      for (let i = bytes.length - 1; i >= 0; i--) {
        if (bytes[i] !== lineEnd) continue;
        if (lines === count) {
          this.#offset = start + i + 1;
          return lines;
        }
        lines++;
      }
      from = start;
    }
    this.#offset = 0;
    return lines;
  }

  close(): void {
    if (!this.#isClosed) closeSync(this.#descriptor);
    this.#isClosed = true;
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.#descriptor, bytes, 0, length, at));
  }
}

/** From the newest file back, until there are enough lines. */
function skipToTail(files: readonly OpenLog[], tailLines: number): void {
  let missing = tailLines;
  for (const file of files.toReversed()) missing -= file.skipToTail(missing);
}

function render(line: string, { timestamps, sinceMs }: LogOptions): string {
  const [time = ""] = line.split(" ", 1);
  if (sinceMs !== undefined && Date.parse(time) < sinceMs) return "";
  return `${timestamps ? `${utc(time)} ` : ""}${entryText(line)}`;
}

/** Monitors write the host's local time with its offset; clients are given UTC, with as many digits. */
function utc(time: string): string {
  const date = new Date(time);
  if (time.endsWith("Z") || Number.isNaN(date.getTime())) return time;
  const [fraction = ""] = /\.\d+/.exec(time) ?? [];
  return `${date.toISOString().slice(0, "2026-01-01T00:00:00".length)}${fraction}Z`;
}

/** Without the character that was cut in two at the end. */
function wholeCharacters(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
