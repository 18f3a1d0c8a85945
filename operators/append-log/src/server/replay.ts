/** Replays archived segments onto a backup, up to a target; pure. */
import type { Replay, TimelineFork } from "@setpoint/data-service";
import { type Entry, entriesIn, forked, type LogData, readFork } from "./log-data.ts";

/**
 * The entries up to the target, on a history that the archive does not have. `files` are those of the archive
 * by name. Throws when the target is not reached.
 */
export function replayed(
  backup: LogData,
  files: ReadonlyMap<string, Uint8Array>,
  { target, timeline, end }: Replay,
): LogData {
  const forks = allForks(backup, files);
  const entries = [...backup.entries];
  let isOver = false;
  for (const entry of historyOf(timeline, forks, files)) {
    isOver = isPast(entry, target, end);
    if (isOver) break;
    if (entry.position < backup.entries.length) continue;
    entries.splice(entry.position, entries.length, entry);
    isOver = target?.kind === "name" && entry.mark === target.value;
    if (isOver) break;
  }
  if (target?.kind === "name" && !isOver) throw new Error(`There is no mark "${target.value}" behind the backup`);
  const newest = Math.max(timeline, backup.timeline, ...forks.map((each) => each.timeline));
  return forked({ timeline, forks: [...lineage(timeline, forks)], entries }, newest + 1);
}

function allForks({ forks }: LogData, files: ReadonlyMap<string, Uint8Array>): readonly TimelineFork[] {
  const archived = [...files].filter(([name]) => name.endsWith(".fork")).map(([, bytes]) => readFork(bytes));
  return [...archived, ...forks.filter((own) => archived.every((each) => each.timeline !== own.timeline))];
}

/** From the first fork to that of the timeline. */
function lineage(timeline: number, forks: readonly TimelineFork[]): readonly TimelineFork[] {
  const own = forks.find((each) => each.timeline === timeline);
  return own === undefined
    ? []
    : [
        ...lineage(
          own.parent,
          forks.filter((each) => each !== own),
        ),
        own,
      ];
}

/**
 * The entries of each history up to where the next one leaves it. The first segment of a history repeats the
 * end of its parent.
 */
function historyOf(
  timeline: number,
  forks: readonly TimelineFork[],
  files: ReadonlyMap<string, Uint8Array>,
): readonly Entry[] {
  const line = lineage(timeline, forks);
  const ends = [...line.map(({ parent, at }) => [parent, Number(at)] as const), [timeline, Infinity] as const];
  const names = [...files.keys()].toSorted();
  return ends.flatMap(([each, end]) =>
    names
      .filter((name) => name.startsWith(`${each}-`))
      .flatMap((name) => entriesIn(files.get(name) ?? new Uint8Array()))
      .filter(({ position }) => position < end),
  );
}

function isPast({ position, atMs }: Entry, target: Replay["target"], end: string): boolean {
  if (position >= Number(end)) return true;
  if (target?.kind === "position") return position >= Number(target.value);
  return target?.kind === "time" && atMs > Date.parse(target.value);
}
