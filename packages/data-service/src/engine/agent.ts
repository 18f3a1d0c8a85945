/** The half of an engine that runs in transfer pods, beside the data. */

import type { EngineLog } from "./log.ts";

/** Where a transfer pod reads and writes, apart from the store. */
export interface AgentEnvironment {
  /** What `EngineControl.source` put into the request. */
  readonly source: unknown;
  /**
   * The folder with the files of the Secret that `EngineControl.source` named; undefined when it named none.
   */
  readonly secretFolder?: string | undefined;
  readonly signal: AbortSignal;
}

/** The position of an engine, and when it was the newest. */
export interface SnapshotFacts {
  readonly engineVersion: string;
  /** What the engine orders its changes by: etcd's revision, or PostgreSQL's LSN. It only grows. */
  readonly position: string;
  /** Where the log goes on from this copy; absent when it cannot be replayed onto it. */
  readonly log?: SnapshotLog | undefined;
}

/** Where a log goes on from a copy of the data. */
export interface SnapshotLog {
  readonly timeline: number;
  /**
   * Replay starts here. It is before `SnapshotFacts.position` when data changed while they were copied; what
   * is between them must be replayed in any case.
   */
  readonly start: string;
  /** When `SnapshotFacts.position` was reached, by the engine's clock: no target may be earlier. */
  readonly endedAtMs: number;
}

/** One consistent copy of all data. */
export interface Snapshot {
  readonly data: AsyncIterable<Uint8Array>;
  /** Resolves after the last byte of `data`; rejects when the copy is not complete. */
  readonly facts: Promise<SnapshotFacts>;
}

/** The half of an engine that runs in transfer pods. */
export interface EngineAgent {
  /** Streams a consistent copy of the instance's data. It never holds all of them in memory. */
  snapshot(environment: AgentEnvironment): Promise<Snapshot>;
  /**
   * Checks that the data are complete and can be restored. Throws `InvalidSnapshotError` when they cannot. It
   * reads all of `data`.
   */
  verify(data: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<VerifiedSnapshot>;
  /** The engine's log, when it has one: the same as in `EngineControl`. */
  readonly log?: EngineLog;
  /** One value as a client writes and reads it, for acceptance tests; absent when the engine has none. */
  readonly values?: EngineValues;
}

/** Single values of an instance. Both reject when the instance does not answer, or refuses. */
export interface EngineValues {
  /** Resolves when the instance has acknowledged the write. */
  write(key: string, value: string, environment: AgentEnvironment): Promise<void>;
  read(key: string, environment: AgentEnvironment): Promise<string | undefined>;
}

/** What a verified snapshot is known to contain. */
export interface VerifiedSnapshot {
  readonly dataBytes: number;
  readonly position?: string | undefined;
}

/** The data are damaged, cut off, or not of this engine. No retry helps. */
export class InvalidSnapshotError extends Error {
  override readonly name = "InvalidSnapshotError";
}
