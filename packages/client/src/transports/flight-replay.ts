/** Flies a recorded flight again: gives a program the inputs of a recording and compares what it asks. */
import { deepEqual, type ApiRequest, type ApiResponse, type Transport } from "@setpoint/apimachinery";
import { type Clock, type Host, nextTurn, type Random, type Timer } from "@setpoint/host";
import { subjectOf } from "./flight-recorder.ts";
import type { FlightEntry, FlightHeader, FlightInput, RecordedError } from "./flight-recording.ts";
import { Redactor } from "./redactor.ts";

/** The first place at which a program did something else than what was recorded. */
export interface Divergence {
  /** The place in the recording, from 1, and its time in milliseconds since the start. */
  readonly entry: number;
  readonly atMs: number;
  readonly message: string;
  /** Absent: nothing was recorded here. */
  readonly recorded?: ApiRequest;
  /** Absent: the program asked nothing. */
  readonly actual?: ApiRequest;
}

/** How far a replay got, which writes it made, and the first difference if there is one. */
export interface ReplayResult {
  readonly divergence: Divergence | undefined;
  readonly requests: number;
  /** The requests that write, in order, with their time. */
  readonly writes: readonly { readonly atMs: number; readonly request: ApiRequest }[];
  /** Why the recording ends: `cut` when it has no end of its own. */
  readonly end: "stopped" | "full" | "cut";
}

/** The recording to replay. */
export interface ReplayOptions {
  readonly header: FlightHeader;
  readonly entries: readonly FlightEntry[];
  /** Turns of the real event loop; time itself comes from the recording. */
  readonly clock: Clock;
}

interface Waiter {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Guarantees: no request leaves the process; the same program with the same recording sends the same requests
 * in the same order; otherwise the first difference is reported.
 */
export class FlightReplay {
  readonly #options: ReplayOptions;
  readonly #redactor = new Redactor({ remembers: true });
  readonly #timers = new Map<number, () => void>();
  /** Who waits for the answer or the next item of a request, by its number. */
  readonly #waiting = new Map<number, Waiter[]>();
  /** Requests that were sent and not yet compared. */
  readonly #sent: ApiRequest[] = [];
  readonly #writes: { readonly atMs: number; readonly request: ApiRequest }[] = [];
  #atMs = 0;
  #requests = 0;
  #timerCount = 0;

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  /** The host as the program sees it; `random` must begin at the seed of the header. */
  host(host: Host, random: Random): Host {
    return { ...host, clock: this.#clock(), random };
  }

  get transport(): Transport {
    return { send: (request) => this.#send(request) };
  }

  /** Call it after the program was started, in the same turn. */
  async run(): Promise<ReplayResult> {
    const { entries } = this.#options;
    for (const [index, entry] of entries.entries()) {
      await this.#turn();
      const divergence = this.#play(entry, index + 1);
      if (divergence !== undefined) return this.#result(divergence, "cut");
      if (entry.kind === "stop") return this.#result(undefined, entry.why);
    }
    return this.#result(undefined, "cut");
  }

  #result(divergence: Divergence | undefined, end: ReplayResult["end"]): ReplayResult {
    return { divergence, end, requests: this.#requests, writes: this.#writes };
  }

  /** Everything that the last input has set in motion is done after it. */
  #turn(): Promise<void> | undefined {
    return this.#isFresh ? undefined : nextTurn(this.#options.clock);
  }

  /** Whether nothing has been given to the program since the last turn. */
  #isFresh = false;

  #play(entry: FlightEntry, place: number): Divergence | undefined {
    if (entry.kind === "request") {
      this.#isFresh = true;
      // Secrets that were recorded as they are do not count either.
      return this.#compare(this.#redactor.redact(entry.request, subjectOf(entry.request)) as ApiRequest, place);
    }
    const extra = this.#sent[0];
    // What a recording was full before is in none.
    const isFull = entry.kind === "stop" && entry.why === "full";
    if (extra !== undefined && !isFull) {
      const message = `the program sent ${nameOf(extra)}, the recording has no request here`;
      return { entry: place, atMs: this.#atMs, message, actual: extra };
    }
    this.#isFresh = false;
    if (entry.kind === "stop") return undefined;
    this.#atMs = entry.at;
    if (this.#give(entry)) return undefined;
    const message = `the recording has a ${entry.kind} number ${entry.n}, and the program waits for none`;
    return { entry: place, atMs: this.#atMs, message };
  }

  #compare(recorded: ApiRequest, place: number): Divergence | undefined {
    const actual = this.#sent.shift();
    if (actual === undefined) {
      const message = `the recording has ${nameOf(recorded)}, the program sent nothing`;
      return { entry: place, atMs: this.#atMs, message, recorded };
    }
    const isWrite = recorded.method !== "GET" && recorded.method !== "HEAD";
    if (isWrite) this.#writes.push({ atMs: this.#atMs, request: actual });
    if (deepEqual(recorded, actual)) return undefined;
    const message =
      nameOf(recorded) === nameOf(actual)
        ? `${nameOf(actual)} is not as recorded`
        : `the recording has ${nameOf(recorded)}, the program sent ${nameOf(actual)}`;
    return { entry: place, atMs: this.#atMs, message, recorded, actual };
  }

  /** Whether the program was waiting for this input. */
  #give(input: FlightInput): boolean {
    // Also what is not compared counts for the numbers of what is redacted.
    this.#redactor.note(input);
    if (input.kind === "chunk") this.#redactor.note(atob(input.base64).split("\n"));
    if (input.kind === "timer" || input.kind === "deferred") {
      const callback = this.#timers.get(input.n);
      this.#timers.delete(input.n);
      callback?.();
      return callback !== undefined;
    }
    const waiter = this.#waiting.get(input.n)?.shift();
    if (waiter === undefined) return false;
    // What the program made itself comes back to it as it made it.
    giveTo(waiter, this.#redactor.reveal(input) as typeof input, (n) => this.#stream(n));
    return true;
  }

  #clock(): Clock {
    const { epochMs } = this.#options.header;
    return {
      now: () => epochMs + Math.floor(this.#atMs),
      monotonic: () => this.#atMs,
      setTimer: (callback) => this.#setTimer(callback),
      defer: (callback) => void this.#setTimer(callback),
    };
  }

  #setTimer(callback: () => void): Timer {
    const n = ++this.#timerCount;
    this.#timers.set(n, callback);
    return { cancel: () => void this.#timers.delete(n) };
  }

  #send(request: ApiRequest): Promise<ApiResponse> {
    const n = ++this.#requests;
    this.#sent.push(this.#redactor.redact(request, subjectOf(request)) as ApiRequest);
    return this.#wait(n) as Promise<ApiResponse>;
  }

  #wait(n: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(n) ?? [];
      waiters.push({ resolve, reject });
      this.#waiting.set(n, waiters);
    });
  }

  #stream<T>(n: number): AsyncIterable<T> {
    const next = (): Promise<IteratorResult<T>> => this.#wait(n) as Promise<IteratorResult<T>>;
    const stop = (): Promise<IteratorResult<T>> => Promise.resolve({ done: true, value: undefined });
    return { [Symbol.asyncIterator]: () => ({ next, return: stop }) };
  }
}

function giveTo(
  waiter: Waiter,
  input: Exclude<FlightInput, { kind: "timer" | "deferred" }>,
  stream: <T>(n: number) => AsyncIterable<T>,
): void {
  switch (input.kind) {
    case "object":
      return waiter.resolve({ kind: "object", status: input.status, headers: input.headers, object: input.object });
    case "stream":
      return waiter.resolve({
        kind: input.of,
        status: input.status,
        headers: input.headers,
        [input.of === "watch" ? "frames" : "bytes"]: stream(input.n),
      });
    case "failure":
      return waiter.reject(errorFrom(input.error));
    case "frame":
      return waiter.resolve({ done: false, value: input.frame });
    case "chunk":
      return waiter.resolve({ done: false, value: Uint8Array.from(atob(input.base64), (each) => each.charCodeAt(0)) });
    case "end":
      if (input.error === undefined) waiter.resolve({ done: true, value: undefined });
      else waiter.reject(errorFrom(input.error));
  }
}

function errorFrom({ name, message, code }: RecordedError): Error {
  const error = new Error(message);
  error.name = name;
  return code === undefined ? error : Object.assign(error, { code });
}

function nameOf({ method, path }: ApiRequest): string {
  return `${method} ${path}`;
}
