/** Reads container logs as the log subresource gives them, from the end or from a time, and follows them. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { type Clock, sleep } from "@setpoint/host";
import { rotatedFile } from "./container-log.ts";

export interface LogOptions {
  readonly follow: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  readonly sinceMs?: number;
  readonly limitBytes?: number;
}

interface Entry {
  readonly time: string;
  readonly text: string;
}

const followPollMs = 200;

/** Ends when the log does: at once without `follow`, else when `isOver` says so and everything is read. */
export async function* readLog(
  clock: Clock,
  file: string,
  options: LogOptions,
  isOver: () => boolean,
  signal: AbortSignal,
): AsyncIterable<string> {
  let budget = options.limitBytes ?? Number.POSITIVE_INFINITY;
  const render = ({ time, text }: Entry): string => {
    const line = options.timestamps ? `${time} ${text}` : text;
    const bytes = Buffer.from(line);
    const cut = bytes.length <= budget ? line : wholeCharacters(bytes.subarray(0, budget));
    budget -= Math.min(bytes.length, budget);
    return cut;
  };
  let { entries, size } = readEntries(file, 0);
  if (existsSync(rotatedFile(file))) entries = [...readEntries(rotatedFile(file), 0).entries, ...entries];
  for (const entry of select(entries, options)) if (budget > 0) yield render(entry);
  while (options.follow && budget > 0 && !signal.aborted) {
    const wasOver = isOver();
    const next = readEntries(file, size);
    size = next.size;
    for (const entry of next.entries) if (budget > 0) yield render(entry);
    if (wasOver) return;
    await sleep(clock, followPollMs, signal).catch(() => {});
  }
}

/** Without the character that was cut in two at the end. */
function wholeCharacters(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

function select(entries: readonly Entry[], { sinceMs, tailLines }: LogOptions): readonly Entry[] {
  const recent = sinceMs === undefined ? entries : entries.filter(({ time }) => Date.parse(time) >= sinceMs);
  return tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines);
}

/** Complete entries from byte `from` on; from the start again when the file was rotated. */
function readEntries(file: string, from: number): { entries: Entry[]; size: number } {
  if (!existsSync(file)) return { entries: [], size: from };
  const { start, bytes } = readFrom(file, from);
  const end = bytes.lastIndexOf(10) + 1;
  const lines = bytes.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
  return { entries: lines.map(parseEntry), size: start + end };
}

/** Only what is new: a follower asks five times a second. */
function readFrom(path: string, from: number): { start: number; bytes: Buffer } {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const start = size < from ? 0 : from;
    const bytes = Buffer.alloc(size - start);
    return { start, bytes: bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start)) };
  } finally {
    closeSync(file);
  }
}

/** A partial entry has no line end of its own. */
function parseEntry(line: string): Entry {
  const [time = "", , tag] = line.split(" ", 3);
  const text = line.split(" ").slice(3).join(" ");
  return { time, text: tag === "P" ? text : `${text}\n` };
}
