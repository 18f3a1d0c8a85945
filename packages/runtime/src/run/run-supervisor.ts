import type { Client } from "@setpoint/client";
import type { RunEnd } from "./controller-metrics.ts";
import type { AnsweredRequest } from "../writes/own-writes.ts";
import type { Cause } from "./run-record.ts";
import type { Result } from "../controller/result.ts";

/**
 * How a run ended: with a result, or with an error and when it is tried again (never, when only a change can
 * help).
 */
export type RunVerdict = { readonly end: RunEnd; readonly result: Result | void } | FailedVerdict;

export interface FailedVerdict {
  readonly end: "error";
  readonly error: unknown;
  readonly retryDelayMs?: number;
  /** Nothing is wrong with the key: the program stops, or the key is another process's now. */
  readonly isStopped?: boolean;
}

/** A run that begins, and what woke its key. */
export interface BegunKeyRun {
  readonly key: string;
  readonly reconcileID: string;
  readonly causes: readonly Cause[];
  /** Causes beyond those that are kept. */
  readonly moreCauses: number;
}

/** Called with the server's answer to each write of a run, also to a write through `context.client`. */
export type OnAnswer = (request: AnsweredRequest, answer: unknown) => void;

/** One run as its supervisor sees it. */
export interface SupervisedRun {
  /** Its way to the server: fenced, and its writes are remembered. */
  readonly client: Client;
  /** Aborts the run. */
  readonly signal: AbortSignal;
  /** Throws when the run may not write any more; asked directly before what it does elsewhere, too. */
  assertMayWrite(this: void): void;
  ended(this: void, verdict: RunVerdict): void;
}

/**
 * Stands beside the runs of one controller: says which keys may run here, gives each run its way to the
 * server, and remembers why it ran and what it did. Called for every change and every run, so it must be
 * quick.
 */
export interface RunSupervisor {
  /**
   * Whether this process may run the key now. A key that may not run is dropped, and added again when it may.
   */
  mayRun(key: string): boolean;
  begin(run: BegunKeyRun, onAnswer: OnAnswer): SupervisedRun;
  /** Something runs beside the key's object: the key becomes another's only when that has ended too. */
  accompany(key: string): Pick<SupervisedRun, "client" | "signal"> & { ended(this: void): void };
}
