/** The ability "log": an engine whose changes are in segments that can be archived one by one. */

/** What a segment of the log holds, as its engine reads it. */
export interface LogSegmentFacts {
  /** The history that it belongs to. A promotion begins a new one; without promotions it is 1. */
  readonly timeline: number;
  /** The first position in it. */
  readonly start: string;
  /** The first position behind it: where the next segment starts. */
  readonly end: string;
  /** The time of its last change, in milliseconds since the epoch. */
  readonly endedAtMs: number;
}

/** Where one history begins: at a position of another one. */
export interface TimelineFork {
  readonly timeline: number;
  readonly parent: number;
  /** The first position of the new history. What the parent has from here on does not belong to it. */
  readonly at: string;
}

/** How an engine reads its own log; the same in the operator, in transfer pods and in the engine's server. */
export interface EngineLog {
  /** Throws `InvalidSnapshotError` when the bytes are no whole segment of this engine. */
  read(name: string, bytes: Uint8Array): LogSegmentFacts;
  /**
   * Where a history begins, when the file says that and is no segment, such as PostgreSQL's `.history`;
   * undefined for segments. Absent when the engine has one history.
   */
  fork?(name: string, bytes: Uint8Array): TimelineFork | undefined;
  /**
   * Whether the segment has this mark or transaction. With it, a restore to one that is in no segment is
   * refused before anything is stopped; without it, only the replay finds out.
   */
  finds?(bytes: Uint8Array, target: { readonly kind: "name" | "transaction"; readonly value: string }): boolean;
  /**
   * Orders two positions of one history: negative when `a` comes first. Positions of different histories have
   * no order; the forks say which of them both share.
   */
  compare(a: string, b: string): number;
}
