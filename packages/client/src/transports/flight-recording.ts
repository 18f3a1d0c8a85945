/**
 * The format of a flight recording: everything that a program was given (answers, frames of watches, timers)
 * and everything that it asked, in one order. See docs/plan-record-replay.md.
 */
import type { ApiRequest, WatchFrame } from "@setpoint/apimachinery";
import { encodeJson } from "@setpoint/apimachinery";

/** Raised whenever a recording of before can no longer be replayed. */
export const flightFormat = "setpoint-flight/1";

/** The first line of a recording. */
export interface FlightHeader {
  readonly format: typeof flightFormat;
  /** Who was recorded. */
  readonly program: string;
  /** Where its randomness begins. */
  readonly seed: number;
  /** Wall-clock time of the start, in milliseconds since the epoch. */
  readonly epochMs: number;
  /** The program's other inputs (arguments, settings), needed to start it again. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** The error with which a request ended, as the recording keeps it. */
export interface RecordedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** What the program asked. Numbers count from 1. */
export interface RecordedRequest {
  readonly kind: "request";
  readonly n: number;
  readonly request: ApiRequest;
}

/**
 * What the program was given: `at` is in milliseconds since the start, `n` says which request or timer it is
 * about.
 */
export type FlightInput = { readonly n: number; readonly at: number } & (
  | { readonly kind: "object"; readonly status: number; readonly headers: Headers; readonly object: unknown }
  | { readonly kind: "stream"; readonly of: "watch" | "bytes"; readonly status: number; readonly headers: Headers }
  | { readonly kind: "failure"; readonly error: RecordedError }
  | { readonly kind: "frame"; readonly frame: WatchFrame }
  | { readonly kind: "chunk"; readonly base64: string }
  | { readonly kind: "end"; readonly error?: RecordedError }
  | { readonly kind: "timer" }
  | { readonly kind: "deferred" }
);

/** The last line: why the recording ends here. */
export interface FlightEnd {
  readonly kind: "stop";
  readonly at: number;
  readonly why: "stopped" | "full";
}

/** One line of a recording after the header. */
export type FlightEntry = RecordedRequest | FlightInput | FlightEnd;

type Headers = Readonly<Record<string, string>>;

/** Takes entries as they come. False means: it is full, and this entry was not taken. */
export interface FlightSink {
  add(entry: FlightEntry): boolean;
}

/** Keeps the newest entries, as many as fit, to show what has just happened. */
export class FlightRing implements FlightSink {
  readonly #bytesMax: number;
  readonly #entries: { readonly entry: FlightEntry; readonly bytes: number }[] = [];
  #bytes = 0;
  #first = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(entry: FlightEntry): boolean {
    const bytes = encodeJson(entry).length;
    this.#entries.push({ entry, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax && this.#first < this.#entries.length) {
      this.#bytes -= this.#entries[this.#first++]?.bytes ?? 0;
    }
    // Now and then, because moving the rest costs as much as there is.
    if (this.#first > 1_000 && this.#first > this.#entries.length / 2) {
      this.#entries.splice(0, this.#first);
      this.#dropped += this.#first;
      this.#first = 0;
    }
    return true;
  }

  #dropped = 0;

  /**
   * Entries that are gone because newer ones needed their place; a recording without its beginning cannot be
   * replayed.
   */
  get dropped(): number {
    return this.#dropped + this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get entries(): readonly FlightEntry[] {
    return this.#entries.slice(this.#first).map(({ entry }) => entry);
  }
}
