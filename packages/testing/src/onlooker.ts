/**
 * The observer of every request and watch event of a world: the oracles, and the trace that a person reads.
 */
import type { ApiRequest, WatchEventType } from "@setpoint/apimachinery";
import type { TraceEntry } from "./trace.ts";

/** A request with its answer, or with the fault that struck it. */
export interface Hop extends TraceEntry {
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
  /** Called when the server has executed the request, before the client gets the answer. */
  passed(hop: Hop): void;
  saw(sighting: Sighting): void;
}
