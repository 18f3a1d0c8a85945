/** Folds repeated lines, so that a run with a loop is as short as one without. */
import { sitePattern } from "../faults/site-pattern.ts";
import type { RunLine } from "./run-line.ts";

/** The maximum number of lines in a loop. */
const circleMax = 4;
/** How often each line of a loop must occur at least, and all of them on average. */
const timesMin = 2;
const roundsMin = 3;

interface Stretch {
  /** The first line of each kind that occurs in it. */
  readonly shown: readonly RunLine[];
  readonly length: number;
  readonly last: RunLine;
}

/**
 * Each line of a loop once, then how many more there were, and until when. Faults and broken rules are never
 * folded.
 */
export function folded(lines: readonly RunLine[]): readonly RunLine[] {
  const keys = lines.map(keyOf);
  const result: RunLine[] = [];
  for (let index = 0; index < lines.length;) {
    const stretch = longestAt(lines, keys, index);
    if (stretch === undefined) {
      result.push(...lines.slice(index, index + 1));
      index++;
      continue;
    }
    const { shown, length, last } = stretch;
    const what = shown.length === 1 ? "this" : `these ${shown.length} lines`;
    const text = `… ${length - shown.length} more of ${what}, until ${(last.atMs / 1_000).toFixed(3)} s`;
    result.push(...shown, { atMs: last.atMs, who: last.who, kind: "more", text });
    index += length;
  }
  return result;
}

/** The loop that begins here and saves most lines. */
function longestAt(
  lines: readonly RunLine[],
  keys: readonly (string | undefined)[],
  from: number,
): Stretch | undefined {
  let best: Stretch | undefined;
  const first = new Map<string, RunLine>();
  const times = new Map<string, number>();
  for (let index = from; index < lines.length; index++) {
    const [line, key] = [lines[index], keys[index]];
    if (line === undefined || key === undefined) break;
    if (!first.has(key)) {
      if (first.size === circleMax) break;
      first.set(key, line);
    }
    times.set(key, (times.get(key) ?? 0) + 1);
    const length = index + 1 - from;
    if (length < roundsMin * first.size || [...times.values()].some((each) => each < timesMin)) continue;
    if (best === undefined || length - first.size > best.length - best.shown.length)
      best = { shown: [...first.values()], length, last: line };
  }
  return best;
}

/**
 * Equal for lines that differ only in versions and random names; undefined for lines that are never folded.
 */
function keyOf({ kind, who, text }: RunLine): string | undefined {
  if (kind === "fault" || kind === "broken") return undefined;
  return `${who} ${kind} ${sitePattern(text.replace(/ \(version \d+\)$/, ""))}`;
}
