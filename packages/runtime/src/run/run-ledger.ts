import { messageOf } from "@setpoint/apimachinery";
import type { Result } from "../controller/result.ts";
import type { RunVerdict } from "./run-supervisor.ts";
import type { RunRecord, WriteRecord } from "./run-record.ts";

/** Runs that are remembered of one controller; the oldest is forgotten first. About 1 kB each. */
const runsMax = 1_024;
/** Writes kept of one run; more are counted. */
const writesMax = 16;
/** Longest reason or error message that is kept. */
const reasonLengthMax = 512;
/** Of all runs that have written nothing, which are nearly all. */
const noWrites: readonly WriteRecord[] = [];
/** What is known of a run when it begins. */
export type BegunRun = Pick<RunRecord, "key" | "reconcileID" | "startedMs" | "causes" | "moreCauses">;

/** The record of one run after the other. */
type Place = { run: number } & { -readonly [Field in keyof RunRecord]: RunRecord[Field] };

const unused: Place = {
  ...{ run: -1, key: "", reconcileID: "", startedMs: 0, causes: [], moreCauses: 0 },
  ...{ writes: noWrites, moreWrites: 0, endedMs: undefined, end: undefined, reason: undefined, retryAtMs: undefined },
};

/**
 * The last runs of one controller: why they ran, what they decided, what they wrote. A run is named by its number. Its record is a place
 * of the ring that is written anew for each run: a record of its own would live just long enough to become an old object, 300
 * bytes a run that only a full collection gives back.
 */
export class RunLedger {
  readonly #ring: Place[] = [];
  #runs = 0;

  /** Returns the run's number. */
  begin(begun: BegunRun): number {
    const run = this.#runs++;
    let place = this.#ring[run % runsMax];
    if (place === undefined) this.#ring.push((place = { ...unused }));
    begin(place, run, begun);
    return run;
  }

  /** The returned record is kept when the run still is. */
  write(run: number, method: string, path: string): WriteRecord {
    const write: WriteRecord = { method, path, status: undefined, resourceVersion: undefined };
    const record = this.#place(run);
    if (record === undefined) return write;
    if (record.writes.length >= writesMax) record.moreWrites++;
    else record.writes = [...record.writes, write];
    return write;
  }

  end(run: number, verdict: RunVerdict, endedMs: number): void {
    const record = this.#place(run);
    if (record === undefined) return;
    record.endedMs = endedMs;
    record.end = verdict.end;
    record.reason = reasonOf(verdict);
    const retryDelayMs = "error" in verdict ? verdict.retryDelayMs : requeueOf(verdict)?.delayMs;
    if (retryDelayMs !== undefined) record.retryAtMs = endedMs + retryDelayMs;
  }

  /** The last run of a key; undefined when it is not among those that are remembered. */
  latest(key: string): RunRecord | undefined {
    return this.of(key)[0];
  }

  /** All remembered runs of a key, the newest first: looked for in all, since people ask and runs do not. */
  of(key: string): readonly RunRecord[] {
    const places = this.#ring.filter((place) => place.key === key).toSorted((a, b) => b.run - a.run);
    return places.map((place) => ({ ...place }));
  }

  /** The run that made a revision, when it is remembered. */
  madeBy(resourceVersion: string): RunRecord | undefined {
    const made = this.#ring.find(({ writes }) => writes.some((write) => write.resourceVersion === resourceVersion));
    return made === undefined ? undefined : { ...made };
  }

  /** Since when runs are remembered; undefined when none was. */
  get sinceMs(): number | undefined {
    return this.#ring[this.#ring.length < runsMax ? 0 : this.#runs % runsMax]?.startedMs;
  }

  #place(run: number): Place | undefined {
    const place = this.#ring[run % runsMax];
    return place?.run === run ? place : undefined;
  }
}

/** What a run says of its end: the error, or the reason of a requeue; undefined when there is nothing to say. */
export function reasonOf(verdict: RunVerdict): string | undefined {
  const said = "error" in verdict ? messageOf(verdict.error) : requeueOf(verdict)?.why;
  return said?.slice(0, reasonLengthMax);
}

function requeueOf(verdict: RunVerdict): Extract<Result, { kind: "requeueAfter" }> | undefined {
  if ("error" in verdict || verdict.result === undefined) return undefined;
  return verdict.result.kind === "requeueAfter" ? verdict.result : undefined;
}

/** By hand, since `Object.assign` takes longer than all the rest of what a run is remembered for. */
function begin(place: Place, run: number, { key, reconcileID, startedMs, causes, moreCauses }: BegunRun): void {
  place.run = run;
  place.key = key;
  place.reconcileID = reconcileID;
  place.startedMs = startedMs;
  place.causes = causes;
  place.moreCauses = moreCauses;
  place.writes = unused.writes;
  place.moreWrites = unused.moreWrites;
  place.endedMs = unused.endedMs;
  place.end = unused.end;
  place.reason = unused.reason;
  place.retryAtMs = unused.retryAtMs;
}
