/**
 * What a mirror asks of the two etcds that it stands between. Keys are strings of bytes ("latin1"), so that
 * they compare as etcd sorts them; values stay as the gateway has them, in base64.
 */

/** All keys that begin with a prefix: from `from`, up to and without `to`. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/** A change of one key; without a value it is deleted. */
export interface KeyChange {
  readonly key: string;
  readonly value?: string | undefined;
}

/** Keys in ascending order, and the revision that they are of. */
export interface KeyPage {
  readonly revision: number;
  readonly entries: readonly KeyValue[];
}

/** What a watch delivers: all changes up to `revision`, unless `isPart` is set. */
export interface WatchMessage {
  readonly revision: number;
  readonly events: readonly WatchEvent[];
  /** More events of these revisions follow in the next message. */
  readonly isPart: boolean;
}

export interface WatchEvent extends KeyChange {
  readonly revision: number;
}

export interface Head {
  readonly clusterId: string;
  readonly revision: number;
}

export interface MirrorEnd {
  head(): Promise<Head>;
  /** Pages of bounded size, of `revision` or of the newest. */
  pages(range: KeyRange, revision?: number): AsyncGenerator<KeyPage>;
  /** The record of a mirror, and the revision of its last change. */
  record(key: string): Promise<{ readonly text: string; readonly revision: number } | undefined>;
}

export interface MirrorSource extends MirrorEnd {
  /** Ends only by an error: `CompactedError` when `from` is gone from the history. */
  watch(range: KeyRange, from: number): AsyncGenerator<WatchMessage>;
}

/** One transaction, which happens only if the record is still that of `guard`. */
export interface GuardedChanges {
  readonly recordKey: string;
  /** The revision of the record's last change; 0: there is none. */
  readonly guard: number;
  readonly changes: readonly KeyChange[];
  /** The new record; absent where it has no room. */
  readonly record?: string | undefined;
}

export interface MirrorDestination extends MirrorEnd {
  /** The revision of the transaction; undefined when the guard did not hold, and nothing was changed. */
  commit(changes: GuardedChanges): Promise<number | undefined>;
}

/** The source has forgotten the revision that is asked for. */
export class CompactedError extends Error {
  override readonly name = "CompactedError";
}

export type MirrorReason =
  | "SourceUnreachable"
  | "SourceRefused"
  | "DestinationUnreachable"
  | "DestinationRefused"
  | "DestinationNotEmpty"
  | "SourceReplaced"
  | "SameCluster"
  | "OppositeMirror"
  | "TakenOver";

/** Why a mirror stopped. The message has no secrets in it. */
export class MirrorProblem extends Error {
  override readonly name = "MirrorProblem";
  readonly reason: MirrorReason;

  constructor(reason: MirrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
