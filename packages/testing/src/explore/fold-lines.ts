/** Folds what happens again and again, so that a run which goes round in circles is as short as one that does not. */
import { sitePattern } from "../faults/site-pattern.ts";
import type { RunLine } from "./run-line.ts";

/** So many different lines make a circle at most. */
const circleMax = 4;
/** How often each line of a circle must come at least, and all of them on average. */
const timesMin = 2;
const roundsMin = 3;

interface Stretch {
  /** The first line of each kind that occurs in it. */
  readonly shown: readonly RunLine[];
  readonly length: number;
  readonly last: RunLine;
}

/** Each line of a circle once, then how many more there were, and until when. What strikes and what breaks is never folded. */
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

/** The circle that begins here and saves most lines. */
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

/** Equal for lines that say the same but for versions and names that chance has made; undefined for what is never folded. */
function keyOf({ kind, who, text }: RunLine): string | undefined {
  if (kind === "fault" || kind === "broken") return undefined;
  return `${who} ${kind} ${sitePattern(text.replace(/ \(version \d+\)$/, ""))}`;
}
