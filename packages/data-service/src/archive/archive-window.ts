/** What of the past can be restored: gaps of an archive, the window, and the way to a target; pure. */
import type { TimelineFork } from "../engine/log.ts";
import type { RestoreTarget } from "../engine/target.ts";
import type { ArchivedSegment } from "./archived-file.ts";

/** A verified backup from which the log can be replayed. */
export interface BaseBackup {
  readonly name: string;
  readonly timeline: number;
  /** Replay starts here. */
  readonly start: string;
  /** The first position that the backup lacks: no target is before it. */
  readonly position: string;
  /** When that position was the newest. */
  readonly takenAtMs: number;
}

/** All that the store has of an instance. */
export interface Archive {
  readonly bases: readonly BaseBackup[];
  readonly segments: readonly ArchivedSegment[];
  readonly forks: readonly TimelineFork[];
}

/** Positions of one timeline in order. */
export type ComparePositions = (a: string, b: string) => number;

/** Positions between two archived segments that no segment has. */
export interface ArchiveGap {
  readonly timeline: number;
  readonly from: string;
  readonly to: string;
}

/** From a backup up to the end of the segments that follow on it without a gap. */
export interface RecoverableWindow {
  readonly base: BaseBackup;
  readonly timeline: number;
  readonly segments: readonly ArchivedSegment[];
  readonly fromMs: number;
  readonly toMs: number;
  /** The first position that cannot be reached. */
  readonly end: string;
}

/** As many windows as a person reads in one sentence. */
const reachedMax = 3;

/** What no segment has: between those of each timeline, and where one leaves its parent. */
export function gapsOf(
  { segments, forks }: Pick<Archive, "segments" | "forks">,
  compare: ComparePositions,
): readonly ArchiveGap[] {
  const timelines = [...new Set(segments.map(({ timeline }) => timeline))].toSorted((a, b) => a - b);
  return timelines.flatMap((timeline): readonly ArchiveGap[] => {
    const own = ofTimeline(segments, timeline, compare);
    const fork = forks.find((each) => each.timeline === timeline);
    const before = fork === undefined ? [] : gapsAtFork(fork, own, segments, compare);
    const between = own.slice(1).flatMap((segment, at) => {
      const from = own[at]?.end ?? segment.start;
      return compare(from, segment.start) < 0 ? [{ timeline, from, to: segment.start }] : [];
    });
    return [...before, ...between];
  });
}

/** The first segment of a timeline may repeat the end of its parent, whose last segment was not full. */
function gapsAtFork(
  { timeline, parent, at }: TimelineFork,
  own: readonly ArchivedSegment[],
  segments: readonly ArchivedSegment[],
  compare: ComparePositions,
): readonly ArchiveGap[] {
  const start = own[0]?.start ?? at;
  const inherited = ofTimeline(segments, parent, compare).filter((each) => compare(each.start, at) < 0);
  const end = inherited.at(-1)?.end ?? at;
  const upTo = compare(start, at) < 0 ? start : at;
  const ofParent = compare(end, upTo) < 0 ? [{ timeline: parent, from: end, to: upTo }] : [];
  return compare(at, start) < 0 ? [...ofParent, { timeline, from: at, to: start }] : ofParent;
}

/** What can be reached from a backup along the history that ends with `timeline`. */
export function windowOf(
  base: BaseBackup,
  timeline: number,
  archive: Archive,
  compare: ComparePositions,
): RecoverableWindow | undefined {
  const history = historyOf(timeline, archive.forks);
  const first = history.findIndex((each) => each.timeline === base.timeline);
  if (first === -1 || isBehindFork(base, history[first]?.until, compare)) return undefined;
  const used: ArchivedSegment[] = [];
  let end = base.start;
  for (const { timeline: each, until } of history.slice(first)) {
    for (const segment of ofTimeline(archive.segments, each, compare)) {
      if (compare(segment.end, end) <= 0 || compare(segment.start, end) > 0) continue;
      if (until !== undefined && compare(segment.start, until) >= 0) continue;
      used.push(segment);
      end = until !== undefined && compare(segment.end, until) > 0 ? until : segment.end;
    }
  }
  // Without what follows up to its position the backup is not consistent.
  if (compare(end, base.position) < 0) return undefined;
  const toMs = Math.max(base.takenAtMs, used.at(-1)?.endedAtMs ?? 0);
  return { base, timeline, segments: used, fromMs: base.takenAtMs, toMs, end };
}

/** The segments that a replay up to the target needs. */
export function neededSegments(
  { base, segments }: RecoverableWindow,
  target: RestoreTarget | undefined,
  compare: ComparePositions,
): readonly ArchivedSegment[] {
  if (target === undefined || target.kind === "name" || target.kind === "transaction") return segments;
  // An engine sees that it has reached a target by the first change behind it.
  const isPast = ({ start, endedAtMs }: ArchivedSegment): boolean =>
    target.kind === "time" ? endedAtMs > Date.parse(target.value) : compare(start, target.value) >= 0;
  const past = segments.findIndex((each) => compare(each.end, base.position) > 0 && isPast(each));
  if (past === -1) return segments;
  return segments.slice(0, past + 1);
}

/**
 * The backup and the segments that lead to a target, or why none do. Without a timeline of the target it
 * follows `followed`, or the newest.
 */
export function wayTo(
  target: RestoreTarget | undefined,
  archive: Archive,
  compare: ComparePositions,
  followed?: number,
): RecoverableWindow | { readonly refusal: string } {
  const timeline = target?.timeline ?? followed ?? newestTimeline(archive);
  const windows = archive.bases
    .toSorted((a, b) => b.takenAtMs - a.takenAtMs)
    .flatMap((base) => windowOf(base, timeline, archive, compare) ?? []);
  const found = windows.find((window) => contains(window, target, compare));
  if (found !== undefined) return found;
  const gap = gapsOf(archive, compare)[0];
  const lacks = gap === undefined ? "" : `; the archive lacks ${gap.from} to ${gap.to} of timeline ${gap.timeline}`;
  if (windows.length === 0)
    return { refusal: `no verified backup leads into the history of timeline ${timeline}${lacks}` };
  const reached = windows.map(({ fromMs, toMs, end }) => `${timeOf(fromMs)} to ${timeOf(toMs)} (position ${end})`);
  return {
    refusal: `${target?.kind} "${target?.value}" is outside of what can be restored: ${reached.slice(0, reachedMax).join(", ")}${lacks}`,
  };
}

/**
 * A mark or a transaction can be anywhere behind the backup: only the replay finds it. A time before the end
 * of the backup is refused, because recovery would stop at a later one and not say so.
 */
function contains(
  { base, fromMs, toMs, end }: RecoverableWindow,
  target: RestoreTarget | undefined,
  compare: ComparePositions,
): boolean {
  if (target === undefined) return true;
  if (target.kind === "position") return compare(base.position, target.value) <= 0 && compare(target.value, end) <= 0;
  if (target.kind !== "time") return true;
  const ms = Date.parse(target.value);
  return fromMs <= ms && ms <= toMs;
}

function isBehindFork({ position }: BaseBackup, until: string | undefined, compare: ComparePositions): boolean {
  return until !== undefined && compare(position, until) > 0;
}

/** From the first timeline to the wanted one, each with the position at which the next one leaves it. */
function historyOf(
  timeline: number,
  forks: readonly TimelineFork[],
): readonly { readonly timeline: number; readonly until?: string }[] {
  const fork = forks.find((each) => each.timeline === timeline);
  if (fork === undefined) return [{ timeline }];
  const before = historyOf(
    fork.parent,
    forks.filter((each) => each !== fork),
  );
  return [...before.slice(0, -1), { timeline: fork.parent, until: fork.at }, { timeline }];
}

function ofTimeline(
  segments: readonly ArchivedSegment[],
  timeline: number,
  compare: ComparePositions,
): readonly ArchivedSegment[] {
  return segments.filter((each) => each.timeline === timeline).toSorted((a, b) => compare(a.start, b.start));
}

/** The history that was begun last. */
export function newestTimeline({ bases, segments, forks }: Archive): number {
  return Math.max(1, ...[...bases, ...segments, ...forks].map(({ timeline }) => timeline));
}

/** A target of this time is inside of what ends or begins here: nothing is rounded. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
