import { messageOf } from "@setpoint/apimachinery";
import type { Result } from "../controller/result.ts";
import type { RunRecord, WriteRecord } from "./run-record.ts";
import type { RunVerdict } from "./run-supervisor.ts";

/** Runs that are remembered of one controller; the oldest is forgotten first. About 1 kB each. */
const runsMax = 1_024;
/** Writes kept of one run; more are counted. */
const writesMax = 16;
/** Longest reason or error message that is kept. */
const reasonLengthMax = 512;
/** What is known of a run when it begins. */
export type BegunRun = Pick<RunRecord, "key" | "reconcileID" | "startedMs" | "causes" | "moreCauses">;

/** The record of a run as it grows. */
type OpenRecord = { -readonly [Field in keyof RunRecord]: RunRecord[Field] } & { readonly writes: WriteRecord[] };

/** One run that is being recorded. */
export class RunRecorder {
  readonly #record: OpenRecord;

  constructor(record: OpenRecord) {
    this.#record = record;
  }

  /** Takes note of a write that is sent; the caller fills in what became of it. */
  write(method: string, path: string): WriteRecord {
    const write: WriteRecord = { method, path, status: undefined, resourceVersion: undefined };
    if (this.#record.writes.length >= writesMax) this.#record.moreWrites++;
    else this.#record.writes.push(write);
    return write;
  }

  end(verdict: RunVerdict, endedMs: number): void {
    this.#record.endedMs = endedMs;
    this.#record.end = verdict.end;
    this.#record.reason = reasonOf(verdict);
    const retryDelayMs = "error" in verdict ? verdict.retryDelayMs : requeueOf(verdict)?.delayMs;
    if (retryDelayMs !== undefined) this.#record.retryAtMs = endedMs + retryDelayMs;
  }
}

/** The last runs of one controller: why they ran, what they decided, what they wrote. */
export class RunHistory {
  /** A ring: the oldest run is at `#next` once it is full. */
  readonly #runs: OpenRecord[] = [];
  #next = 0;

  begin(begun: BegunRun): RunRecorder {
    const record: OpenRecord = {
      ...begun,
      writes: [],
      moreWrites: 0,
      endedMs: undefined,
      end: undefined,
      reason: undefined,
      retryAtMs: undefined,
    };
    this.#runs[this.#next] = record;
    this.#next = (this.#next + 1) % runsMax;
    return new RunRecorder(record);
  }

  /** The last run of a key; undefined when it is not among those that are remembered. */
  latest(key: string): RunRecord | undefined {
    return this.of(key)[0];
  }

  /** All remembered runs of a key, the newest first. */
  of(key: string): readonly RunRecord[] {
    const inOrder = [...this.#runs.slice(this.#next), ...this.#runs.slice(0, this.#next)];
    return inOrder.filter((run) => run.key === key).toReversed();
  }

  /** The run that made a revision, when it is remembered. */
  madeBy(resourceVersion: string): RunRecord | undefined {
    return this.#runs.find(({ writes }) => writes.some((write) => write.resourceVersion === resourceVersion));
  }

  /** Since when runs are remembered; undefined when none was. */
  get sinceMs(): number | undefined {
    return this.#runs[this.#runs.length < runsMax ? 0 : this.#next]?.startedMs;
  }
}

/**
 * Why a run ended as it did: the error, or the reason of a requeue; undefined when there is nothing to tell.
 */
export function reasonOf(verdict: RunVerdict): string | undefined {
  const reason = "error" in verdict ? messageOf(verdict.error) : requeueOf(verdict)?.why;
  return reason?.slice(0, reasonLengthMax);
}

function requeueOf(verdict: RunVerdict): Extract<Result, { kind: "requeueAfter" }> | undefined {
  if ("error" in verdict || verdict.result === undefined) return undefined;
  return verdict.result.kind === "requeueAfter" ? verdict.result : undefined;
}
