/** The ability "target": a restore that ends at a chosen moment. */

/** What a target names: a time, a position of the log, a mark that a user set before, or a transaction. */
export type TargetKind = "time" | "position" | "name" | "transaction";

/** Where a restore ends; the end of the archive when nobody says. */
export interface RestoreTarget {
  readonly kind: TargetKind;
  readonly value: string;
  /** The history to follow; default: the newest. */
  readonly timeline?: number | undefined;
}

/** What is replayed onto a backup. */
export interface Replay {
  /** Undefined: up to `end`. */
  readonly target: RestoreTarget | undefined;
  /** The history that is followed, also when the target names none. */
  readonly timeline: number;
  /** The first position that cannot be reached. */
  readonly end: string;
}

/** What the tool that prepares a data folder needs to stop at a target. */
export interface ReplaySettings {
  /** Files that the tool finds in `DataFolderPaths.replayFolder`, by their names. */
  readonly files: Readonly<Record<string, string>>;
  /** What is added to its command. */
  readonly args: readonly string[];
}

/** How an engine understands targets. */
export interface EngineTarget {
  /** The kinds that the engine can stop at. */
  readonly kinds: readonly TargetKind[];
  /** Why the value is none of its kind, such as a position in another form; undefined when it is one. */
  refusal(target: RestoreTarget): string | undefined;
  replay(replay: Replay): ReplaySettings;
}

/** Why an engine cannot stop at this target; undefined when it can. */
export function targetRefusal(target: RestoreTarget, engine: EngineTarget | undefined): string | undefined {
  if (engine === undefined) return "this engine restores whole backups only: remove spec.target";
  const { kind, value } = target;
  if (!engine.kinds.includes(kind))
    return `this engine cannot stop at a ${kind}: use one of ${engine.kinds.join(", ")}`;
  if (kind === "time" && Number.isNaN(Date.parse(value)))
    return `"${value}" is no time: expected one such as 2026-01-31T12:00:00Z`;
  return engine.refusal(target);
}
