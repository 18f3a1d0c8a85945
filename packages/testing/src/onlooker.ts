/** Who looks over the shoulders of all participants of a world: the oracles and the trace that a person reads. */
import type { ApiRequest, WatchEventType } from "@setpoint/apimachinery";
import type { TraceEntry } from "./trace.ts";

/** A request that was answered, or what befell it. */
export interface Passage extends TraceEntry {
  /** Absent for calls that are not the API server's. */
  readonly request?: ApiRequest;
  /** Absent without an answer. */
  readonly status?: number;
  /** The answer's body. */
  readonly answer?: unknown;
}

/** An event that a participant got from a watch. */
export interface Sighting {
  readonly atMs: number;
  readonly who: string;
  readonly resource: string;
  readonly type: WatchEventType;
  readonly name: string;
  readonly resourceVersion: string;
}

export interface Onlooker {
  /** At the moment at which the server has done it, before the caller hears of it. */
  passed(passage: Passage): void;
  saw(sighting: Sighting): void;
}
