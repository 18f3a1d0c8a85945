/** Records a program's flight: what it is given and what it asks, so that it can be flown again. */
import type { ApiRequest, ApiResponse, Transport, WatchFrame } from "@setpoint/apimachinery";
import type { Clock, Host, Random, Timer } from "@setpoint/host";
import type { FlightEntry, FlightInput, FlightSink, RecordedError } from "./flight-recording.ts";
import { InputGate } from "./input-gate.ts";
import { isBuiltinGroup, type RedactionSubject, Redactor } from "./redactor.ts";
import { parseResourceRequest } from "./resource-request.ts";
import { binary, StreamRedactor } from "./stream-redactor.ts";

/** Where a recorder writes, and whether it keeps secrets. */
export interface FlightRecorderOptions {
  /** The real clock, whose timers and moments are recorded. */
  readonly clock: Clock;
  readonly sink: FlightSink;
  /** The program's wall-clock time at the start, as the header says it; default: the clock's. */
  readonly epochMs?: number;
  /** Record secrets as they are; default false. */
  readonly keepSecrets?: boolean;
}

/** What an input is but its time. */
type InputWithoutTime = FlightInput extends infer T ? (T extends FlightInput ? Omit<T, "at"> : never) : never;

/**
 * Stands between a program and its world: the program must get its clock, its randomness (from a seed) and
 * its transport from here.
 *
 * Guarantees: inputs come to the program one at a time, and its clock stands still between two of them, so
 * that the recorded order is all there is to know. Nothing of a secret gets into the sink (unless
 * `keepSecrets`). Caveats: what the program reads elsewhere (files, other sockets, its own timers) is not
 * recorded and may make a replay diverge.
 */
export class FlightRecorder {
  readonly #options: FlightRecorderOptions;
  readonly #gate: InputGate;
  readonly #redactor = new Redactor();
  readonly #startMs: number;
  readonly #epochMs: number;
  #atMs = 0;
  #requests = 0;
  #recorded = 0;
  #timers = 0;
  #ended = false;

  constructor(options: FlightRecorderOptions) {
    this.#options = options;
    this.#gate = new InputGate(options.clock);
    this.#startMs = options.clock.monotonic();
    this.#epochMs = options.epochMs ?? options.clock.now();
  }

  /** Wall-clock time of the start, for the header. */
  get epochMs(): number {
    return this.#epochMs;
  }

  /** Requests that were recorded. */
  get requestCount(): number {
    return this.#recorded;
  }

  /** The host as the program sees it; `random` must follow from the seed in the header. */
  host(host: Host, random: Random): Host {
    return { ...host, clock: this.#clock(), random };
  }

  transport(inner: Transport): Transport {
    return { send: (request, signal) => this.#send(inner, request, signal) };
  }

  /** Nothing is recorded after it. */
  stop(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.sink.add({ kind: "stop", at: this.#now(), why: "stopped" });
  }

  #now(): number {
    return this.#options.clock.monotonic() - this.#startMs;
  }

  #clock(): Clock {
    return {
      now: () => this.#epochMs + Math.floor(this.#atMs),
      monotonic: () => this.#atMs,
      setTimer: (callback, delayMs, options) => this.#setTimer(callback, delayMs, options),
      defer: (callback) => {
        const n = ++this.#timers;
        this.#gate.enter(() => this.#deliver({ kind: "deferred", n }, callback));
      },
    };
  }

  #setTimer(callback: () => void, delayMs: number, options?: { readonly unref?: boolean }): Timer {
    const n = ++this.#timers;
    let isCancelled = false;
    const fire = (): void => {
      // It may have been cancelled by what came in before it.
      if (!isCancelled) this.#deliver({ kind: "timer", n }, callback);
    };
    const timer = this.#options.clock.setTimer(() => this.#gate.enter(fire), delayMs, options);
    return {
      cancel(): void {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  async #send(inner: Transport, request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    const n = ++this.#requests;
    const subject = subjectOf(request);
    this.#add({ kind: "request", n, request: this.#cleaned(request, subject) as ApiRequest });
    const response = await this.#pass(
      () => inner.send(request, signal),
      (answer) => this.#answerOf(n, answer, subject),
      (error) => ({ kind: "failure", n, error: this.#describe(error) }),
    );
    if (response.kind === "watch") {
      const toInput = (frame: WatchFrame): InputWithoutTime => ({
        kind: "frame",
        n,
        frame: this.#cleaned(frame, subject) as WatchFrame,
      });
      return { ...response, frames: this.#stream(n, response.frames, toInput) };
    }
    if (response.kind === "bytes") {
      const cleaner = new StreamRedactor(this.#redactor);
      const toInput = (chunk: Uint8Array): InputWithoutTime => ({
        kind: "chunk",
        n,
        base64: btoa(this.#cleanedBytes(chunk, subject, cleaner)),
      });
      const rest = (): InputWithoutTime | undefined => {
        const text = cleaner.end();
        return text === "" ? undefined : { kind: "chunk", n, base64: btoa(text) };
      };
      return { ...response, bytes: this.#stream(n, response.bytes, toInput, rest) };
    }
    return response;
  }

  #answerOf(n: number, answer: ApiResponse, subject: RedactionSubject): InputWithoutTime {
    const { status, headers } = answer;
    if (answer.kind !== "object") return { kind: "stream", n, of: answer.kind, status, headers };
    return { kind: "object", n, status, headers, object: this.#cleaned(answer.object, subject) };
  }

  /**
   * The items of a stream, each of them an input of its own; asked for as the program asks. `rest` comes
   * before its end.
   */
  #stream<T>(
    n: number,
    items: AsyncIterable<T>,
    toInput: (item: T) => InputWithoutTime,
    rest: () => InputWithoutTime | undefined = () => undefined,
  ): AsyncIterable<T> {
    const iterator = items[Symbol.asyncIterator]();
    const end = (input: InputWithoutTime): InputWithoutTime => {
      const before = rest();
      if (before !== undefined) this.#add({ ...before, at: this.#atMs } as FlightInput);
      return input;
    };
    const next = (): Promise<IteratorResult<T>> =>
      this.#pass(
        () => iterator.next(),
        (result) => (result.done === true ? end({ kind: "end", n }) : toInput(result.value)),
        (error) => end({ kind: "end", n, error: this.#describe(error) }),
      );
    // Nobody waits for the end of a stream that nobody wants: how long it takes is no input.
    const stop = (): Promise<IteratorResult<T>> => {
      void iterator.return?.().catch(() => {});
      return Promise.resolve({ done: true, value: undefined });
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: stop }) };
  }

  /** Sends, and hands what comes back to the program when it is its turn. */
  #pass<T>(
    send: () => Promise<T>,
    toInput: (value: T) => InputWithoutTime,
    toFailure: (error: unknown) => InputWithoutTime,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      send().then(
        (value) => this.#gate.enter(() => this.#deliver(toInput(value), () => resolve(value))),
        (error: unknown) => this.#gate.enter(() => this.#deliver(toFailure(error), () => reject(error))),
      );
    });
  }

  #deliver(input: InputWithoutTime, deliver: () => void): void {
    this.#atMs = this.#now();
    // The spread loses which of the union's members it is.
    this.#add({ ...input, at: this.#atMs } as FlightInput);
    deliver();
  }

  #add(entry: FlightEntry): void {
    if (this.#ended) return;
    if (this.#options.sink.add(entry)) {
      if (entry.kind === "request") this.#recorded++;
      return;
    }
    this.#ended = true;
    this.#options.sink.add({ kind: "stop", at: this.#atMs, why: "full" });
  }

  #cleaned(value: unknown, subject: RedactionSubject): unknown {
    return this.#options.keepSecrets === true ? value : this.#redactor.redact(value, subject);
  }

  #cleanedBytes(chunk: Uint8Array, { isSecret }: RedactionSubject, cleaner: StreamRedactor): string {
    if (this.#options.keepSecrets === true) return binary(chunk);
    return isSecret === true ? "redacted" : cleaner.push(chunk);
  }

  /** The words of an error may hold an address with a password. */
  #describe(error: unknown): RecordedError {
    const described = describeError(error);
    return { ...described, message: String(this.#cleaned(described.message, {})) };
  }
}

/** What the bodies of a request and of its answer are, also where they do not say so. */
export function subjectOf(request: ApiRequest): RedactionSubject {
  const asked = parseResourceRequest(request);
  // Discovery and the like have no fields that users name.
  if (asked === undefined) return {};
  return { isSecret: asked.group === "" && asked.resource === "secrets", isBuiltin: isBuiltinGroup(asked.group) };
}

function describeError(error: unknown): RecordedError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const code = codeOf(error);
  return { name: error.name, message: error.message, ...(code === undefined ? {} : { code }) };
}

/** The code of an error or of what caused it: what tells whether a request was sent at all. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return codeOf(cause) ?? (typeof code === "string" ? code : undefined);
}

/** A transport whose traffic is noted in a ring or a file, for a program that is not to be replayed. */
export function recordingTransport(inner: Transport, options: FlightRecorderOptions): Transport {
  return new FlightRecorder(options).transport(inner);
}
