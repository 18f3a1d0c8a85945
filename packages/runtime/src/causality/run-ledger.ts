import { messageOf } from "@setpoint/apimachinery";
import type { RunVerdict } from "../controller/run-supervisor.ts";
import type { Cause, RunRecord, WriteRecord } from "./run-record.ts";

/** Runs that are remembered of one controller; the oldest is forgotten first. About 1 kB each. */
const runsMax = 1_024;
/** Writes kept of one run; more are counted. */
const writesMax = 16;
/** Longest reason or error message that is kept. */
const reasonLengthMax = 512;
/** Of all runs that have written nothing, which are nearly all. */
const noWrites: readonly WriteRecord[] = [];

/** The last runs of one controller: why they ran, what they decided, what they wrote. */
export class RunLedger {
  readonly #ring: RunRecord[] = [];
  #next = 0;

  begin(key: string, reconcileID: string, causes: readonly Cause[], moreCauses: number, startedMs: number): RunRecord {
    const record: RunRecord = {
      key,
      reconcileID,
      startedMs,
      causes,
      moreCauses,
      writes: noWrites,
      moreWrites: 0,
      endedMs: undefined,
      end: undefined,
      reason: undefined,
      retryAtMs: undefined,
    };
    this.#ring[this.#next] = record;
    this.#next = (this.#next + 1) % runsMax;
    return record;
  }

  write(record: RunRecord, method: string, path: string): WriteRecord {
    const write: WriteRecord = { method, path, status: undefined, resourceVersion: undefined };
    if (record.writes.length >= writesMax) record.moreWrites++;
    else record.writes = [...record.writes, write];
    return write;
  }

  end(record: RunRecord, verdict: RunVerdict, endedMs: number): void {
    record.endedMs = endedMs;
    record.end = verdict.end;
    if ("error" in verdict) {
      record.reason = messageOf(verdict.error).slice(0, reasonLengthMax);
      if (verdict.retryDelayMs !== undefined) record.retryAtMs = endedMs + verdict.retryDelayMs;
    } else if (verdict.result !== undefined && verdict.result.kind === "requeueAfter") {
      record.reason = verdict.result.why.slice(0, reasonLengthMax);
      record.retryAtMs = endedMs + verdict.result.delayMs;
    }
  }

  /** The last run of a key; undefined when it is not among those that are remembered. */
  latest(key: string): RunRecord | undefined {
    return this.of(key)[0];
  }

  /** All remembered runs of a key, the newest first: looked for in all, since people ask and runs do not. */
  of(key: string): readonly RunRecord[] {
    const inOrder = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    return inOrder.filter((record) => record.key === key).toReversed();
  }

  /** The run that made a revision, when it is remembered. */
  madeBy(resourceVersion: string): RunRecord | undefined {
    return this.#ring.find((record) => record.writes.some((write) => write.resourceVersion === resourceVersion));
  }

  /** Since when runs are remembered; undefined when none was. */
  get sinceMs(): number | undefined {
    return (this.#ring.length < runsMax ? this.#ring[0] : this.#ring[this.#next])?.startedMs;
  }
}
