/** Somebody who asks something in a world: traced, counted, and struck by faults; may die and come back. */
import { type ApiRequest, type ApiResponse, isStatus, type Transport } from "@setpoint/apimachinery";
import { type Clock, type Random, sleep } from "@setpoint/host";
import { laggingWatch } from "./lagging-watch.ts";
import type { Trace, TraceEntry } from "./trace.ts";

/**
 * What befalls a write: `crash` ends the process before the write is sent or after it is done, `lose` loses the answer of a
 * write that is done.
 */
export type Fault = { readonly kind: "crash"; readonly when: "before" | "after" } | { readonly kind: "lose" };

export interface ParticipantOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly trace: Trace;
  /** Its watches tell everything up to so much late, as those of a busy server; default 0. */
  readonly watchLagMsMax?: number;
}

/** A request takes up to so long each way: enough that a seed changes who is first. */
const latencyMsMax = 3;

/** Counts and faults outlive the participant's processes. */
export class Participant {
  readonly name: string;
  /** Faults by the number of the write, from 1. */
  readonly faults: Map<number, Fault> = new Map();
  writeCount = 0;
  readonly #options: ParticipantOptions;

  constructor(options: ParticipantOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** A new life. `onCrash` is called when a fault ends it. */
  process(onCrash: () => void = () => {}): ProcessLink {
    return new ProcessLink(this, this.#options, onCrash);
  }
}

/** What a call is for the trace. */
interface Call {
  readonly kind: TraceEntry["kind"];
  readonly what: string;
  readonly detail: string;
}

/** The ways out of one process. After its end nothing is sent and nothing is heard: promises stay pending for ever. */
export class ProcessLink {
  readonly #participant: Participant;
  readonly #options: ParticipantOptions;
  readonly #onCrash: () => void;
  readonly #end = new AbortController();

  constructor(participant: Participant, options: ParticipantOptions, onCrash: () => void) {
    this.#participant = participant;
    this.#options = options;
    this.#onCrash = onCrash;
  }

  get isAlive(): boolean {
    return !this.#end.signal.aborted;
  }

  end(): void {
    this.#end.abort(new Error("the process is dead"));
  }

  /** A call of something that is not the API server; writes count with those to the API server. */
  call<T>(what: string, kind: "look" | "write", send: () => Promise<T>): Promise<T> {
    return this.#pass({ kind, what, detail: "" }, send, () => "done");
  }

  /** The API server, as seen from this process. */
  transport(inner: Transport): Transport {
    return { send: (request, signal) => this.#send(inner, request, signal) };
  }

  async #send(inner: Transport, request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    const both = request.query?.["watch"] === undefined ? signal : anyOf(this.#end.signal, signal);
    const response = await this.#pass(callOf(request), () => inner.send(request, both), outcomeOf);
    const { clock, random, watchLagMsMax: lagMsMax = 0 } = this.#options;
    if (response.kind !== "watch" || lagMsMax === 0) return response;
    return { ...response, frames: laggingWatch(response.frames, { clock, random, lagMsMax }) };
  }

  async #pass<T>(call: Call, send: () => Promise<T>, describe: (answer: T) => string): Promise<T> {
    if (!this.isAlive) return never();
    const fault = call.kind === "write" ? this.#participant.faults.get(++this.#participant.writeCount) : undefined;
    if (fault?.kind === "crash" && fault.when === "before") return this.#crash(call, "crashed before");
    await this.#travel();
    const answer = await this.#traced(call, send, describe);
    if (fault?.kind === "crash") return this.#crash(call, "crashed after");
    await this.#travel();
    if (fault?.kind === "lose") throw this.#lost(call);
    return this.isAlive ? answer : never();
  }

  async #traced<T>(call: Call, send: () => Promise<T>, describe: (answer: T) => string): Promise<T> {
    if (!this.isAlive) return never();
    try {
      const answer = await send();
      this.#trace(call, describe(answer));
      return answer;
    } catch (error) {
      if (!this.isAlive) return never();
      this.#trace(call, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** The time that a message is under way. */
  async #travel(): Promise<void> {
    const { clock, random } = this.#options;
    await sleep(clock, random.int(latencyMsMax + 1));
  }

  #crash(call: Call, outcome: string): Promise<never> {
    this.#trace(call, outcome);
    this.end();
    this.#onCrash();
    return never();
  }

  #lost(call: Call): Error {
    this.#trace(call, "answer lost");
    return new Error("the connection broke before the answer was received");
  }

  #trace({ kind, what, detail }: Call, outcome: string): void {
    this.#options.trace.add(
      { atMs: this.#options.clock.monotonic(), who: this.#participant.name, kind, what, outcome },
      detail,
    );
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}

function anyOf(end: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? end : AbortSignal.any([end, signal]);
}

function callOf({ method, path, query, body }: ApiRequest): Call {
  const object = objectOfPath(path);
  if (query?.["watch"] !== undefined) return { kind: "watch", what: `WATCH ${object}`, detail: "" };
  if (method === "GET" || method === "HEAD") return { kind: "read", what: `${method} ${object}`, detail: "" };
  const kind = path.startsWith("/apis/coordination.k8s.io/") ? "lease" : "write";
  return { kind, what: `${method} ${object}`, detail: JSON.stringify(body) ?? "" };
}

/** Without group, version and the word `namespaces`: `pods in default`, `default/pods/web-0/status`. */
function objectOfPath(path: string): string {
  return path.replace(/^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\/?/, "").replace(/^namespaces\/([^/]+\/[^/]+)/, "$1");
}

function outcomeOf(response: ApiResponse): string {
  const reason =
    response.kind === "object" && response.status >= 400 && isStatus(response.object)
      ? ` ${response.object.message ?? ""}`
      : "";
  return `${response.status}${reason}`;
}
