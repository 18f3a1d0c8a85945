/** The connections of one process: here faults strike its requests. */
import { type ApiRequest, type ApiResponse, isStatus, type Transport, messageOf } from "@setpoint/apimachinery";
import { type Clock, type Random, sleep } from "@setpoint/host";
import type { WriteFault } from "./faults/fault.ts";
import type { FaultBoard, StepFault } from "./faults/fault-board.ts";
import type { Views } from "./faults/observed-watch.ts";
import { laggingWatch } from "./lagging-watch.ts";
import type { Onlooker, Hop } from "./onlooker.ts";
import { type Pausable, pausableFrames } from "./pausable.ts";
import { readPath } from "./request-path.ts";
import type { Trace, TraceEntry } from "./trace.ts";
import { WatchSignals } from "./watch-signals.ts";

export interface ParticipantOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly trace: Trace;
  /** Its watches deliver events up to this much late, as those of a busy server; default 0. */
  readonly watchLagMsMax?: number;
  /** The faults of this participant only. */
  readonly board?: FaultBoard;
  readonly onlooker?: Onlooker;
}

/** The state of a participant that outlives its processes. */
export interface Incarnations {
  /** Called before the next write is sent; returns the faults that strike it. */
  nextWrite(call: Call): { readonly fault: WriteFault | undefined; readonly steps: readonly StepFault[] };
  /** The answer to this write of a server that refuses for a while. */
  refusalOf(call: Call): ApiResponse | undefined;
  /** From now on the server refuses writes like this one. */
  refuse(call: Call, fault: WriteFault): void;
  /** How much longer requests for leases take now. */
  readonly leaseDelayMs: number;
  readonly views: Views | undefined;
}

/** A call as the trace has it. */
export interface Call {
  readonly kind: TraceEntry["kind"];
  readonly what: string;
  /** Absent for a call to another server. */
  readonly request?: ApiRequest;
}

/** The maximum latency each way: enough that a seed changes the order. */
const latencyMsMax = 3;

/** After its end the process sends and receives nothing: promises stay pending for ever. */
export class ProcessLink {
  readonly #incarnations: Incarnations;
  readonly #options: ParticipantOptions;
  readonly #onCrash: () => void;
  readonly #clock: Pausable | undefined;
  readonly #watches = new WatchSignals();
  #isAlive = true;
  #isDoomed = false;

  constructor(
    incarnations: Incarnations,
    options: ParticipantOptions,
    onCrash: () => void,
    clock: Pausable | undefined,
  ) {
    this.#incarnations = incarnations;
    this.#options = options;
    this.#onCrash = onCrash;
    this.#clock = clock;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  end(): void {
    this.#isAlive = false;
    this.#watches.endAll(new Error("the process is dead"));
  }

  /** A call to a server other than the API server; its writes count with those to the API server. */
  call<T>(what: string, kind: "look" | "write", send: () => Promise<T>): Promise<T> {
    const refuse = (): never => {
      throw new Error("the connection was refused");
    };
    return this.#pass({ kind, what }, { send, describe: () => "done", refuse });
  }

  /** The API server, as seen from this process. */
  transport(inner: Transport): Transport {
    return { send: (request, signal) => this.#send(inner, request, signal) };
  }

  #send(inner: Transport, request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    const { views } = this.#incarnations;
    const asked = views?.aged(request) ?? request;
    const isWatch = request.query?.["watch"] !== undefined;
    const both = isWatch ? this.#watches.linkedTo(signal) : signal;
    const passed = this.#pass<ApiResponse>(callOf(asked), {
      send: () => {
        const refused = views?.refuse(asked);
        return refused === undefined ? inner.send(asked, both) : Promise.resolve(refused);
      },
      describe: outcomeOf,
      refuse: (answer) => answer,
    });
    return isWatch ? passed.then((response) => this.#watched(asked, response)) : passed;
  }

  #watched(request: ApiRequest, response: ApiResponse): ApiResponse {
    if (response.kind !== "watch") return response;
    const { clock, random, watchLagMsMax: lagMsMax = 0 } = this.#options;
    const { views } = this.#incarnations;
    let { frames } = response;
    if (lagMsMax > 0) frames = laggingWatch(frames, { clock, random, lagMsMax });
    if (views !== undefined) frames = views.frames(request, frames, () => this.#die());
    if (this.#clock !== undefined) frames = pausableFrames(frames, this.#clock);
    return frames === response.frames ? response : { ...response, frames };
  }

  async #pass<T>(call: Call, ports: PassPorts<T>): Promise<T> {
    try {
      if (!this.isAlive) return await never();
      if (this.#isDoomed) return await this.#crash(call, "crashed before it asked");
      const { fault, steps } = call.kind === "write" ? this.#incarnations.nextWrite(call) : noFault;
      if (fault?.kind === "A1" || fault?.kind === "A6") return await this.#crash(call, "crashed before");
      if (call.kind === "lease" && this.#incarnations.leaseDelayMs > 0)
        await sleep(this.#options.clock, this.#incarnations.leaseDelayMs);
      await this.#travel();
      if (fault !== undefined) this.#incarnations.refuse(call, fault);
      if (fault?.kind === "B1") return this.#unsent(call);
      if (fault?.kind === "B3") return this.#sendLate(call, ports, fault.lateMs);
      const answer = await this.#answer(call, ports);
      for (const step of steps) this.#options.board?.strike(step);
      if (fault?.kind === "A3") return await this.#crash(call, "crashed after");
      await this.#travel();
      if (fault?.kind === "B2") throw this.#lost(call);
      if (fault?.kind === "A2") this.#doom();
      return this.isAlive ? answer : await never();
    } finally {
      // A paused process gets answers when it resumes: they wait in its sockets.
      while (this.#clock?.isPaused === true) await this.#clock.resumed;
    }
  }

  #answer<T>(call: Call, ports: PassPorts<T>): T | Promise<T> {
    const refused = this.#incarnations.refusalOf(call);
    if (refused === undefined || !this.isAlive) return this.#traced(call, ports);
    this.#trace(call, `${outcomeOf(refused)} (injected)`, refused);
    return ports.refuse(refused);
  }

  async #traced<T>(call: Call, { send, describe }: PassPorts<T>): Promise<T> {
    if (!this.isAlive) return never();
    try {
      const answer = await send();
      this.#trace(call, describe(answer), answer);
      return answer;
    } catch (error) {
      if (!this.isAlive) return never();
      this.#trace(call, messageOf(error));
      throw error;
    }
  }

  /** The latency of a message. */
  #travel(): Promise<void> {
    const { clock, random } = this.#options;
    const delayMs = random.int(latencyMsMax + 1);
    return delayMs === 0 ? Promise.resolve() : sleep(clock, delayMs);
  }

  /** The process dies at its next request. Until then it does only what follows from what it knows now. */
  #doom(): void {
    this.#isDoomed = true;
    this.#options.clock.setTimer(() => this.#die(), 0);
  }

  #crash(call: Call, outcome: string): Promise<never> {
    this.#trace(call, outcome);
    this.#die();
    return never();
  }

  #die(): void {
    if (!this.isAlive) return;
    this.end();
    this.#onCrash();
  }

  #unsent(call: Call): never {
    this.#trace(call, "not sent");
    throw new Error("connect ECONNREFUSED");
  }

  #sendLate<T>(call: Call, { send, describe }: PassPorts<T>, lateMs: number): never {
    const { board, clock } = this.#options;
    const sentMs = clock.monotonic();
    clock.setTimer(() => {
      board?.late(sentMs);
      void send().then(
        (answer) => this.#trace(call, `${describe(answer)} (late)`, answer),
        (error: unknown) => this.#trace(call, `${String(error)} (late)`),
      );
    }, lateMs);
    this.#trace(call, "timed out");
    throw new Error("the request timed out");
  }

  #lost(call: Call): Error {
    this.#trace(call, "answer lost");
    return new Error("the connection broke before the answer was received");
  }

  #trace({ kind, what, request }: Call, outcome: string, answer?: unknown): void {
    const { clock, name, trace, onlooker } = this.#options;
    const entry = { atMs: clock.monotonic(), who: name, kind, what, outcome };
    trace.add(entry, request?.body);
    onlooker?.passed({ ...entry, ...(request === undefined ? {} : { request }), ...answerOf(answer) });
  }
}

/** How a call is sent, said and refused. */
interface PassPorts<T> {
  send(this: void): Promise<T>;
  describe(this: void, answer: T): string;
  refuse(answer: ApiResponse): T;
}

const noFault = { fault: undefined, steps: [] };

function never(): Promise<never> {
  return new Promise(() => {});
}

function answerOf(answer: unknown): Pick<Hop, "status" | "answer"> {
  if (!isResponse(answer)) return {};
  return { status: answer.status, ...(answer.kind === "object" ? { answer: answer.object } : {}) };
}

function isResponse(answer: unknown): answer is ApiResponse {
  return typeof answer === "object" && answer !== null && "headers" in answer && "status" in answer;
}

function callOf(request: ApiRequest): Call {
  const { method, path, query } = request;
  const { object, resource } = readPath(path);
  const isLease = resource === "leases";
  if (query?.["watch"] !== undefined) return { kind: "watch", what: `WATCH ${object}`, request };
  if (method === "GET" || method === "HEAD")
    return { kind: isLease ? "lease" : "read", what: `${method} ${object}`, request };
  const kind = isLease ? "lease" : "write";
  return { kind, what: `${method} ${object}${nameOfNew(request)}`, request };
}

/** A create request has the name in its body. */
function nameOfNew({ method, body }: ApiRequest): string {
  if (method !== "POST") return "";
  const { name, generateName } =
    (body as { metadata?: { name?: string; generateName?: string } } | null)?.metadata ?? {};
  if (name !== undefined) return `/${name}`;
  return generateName === undefined ? "" : `/${generateName}*`;
}

function outcomeOf(response: ApiResponse): string {
  const reason =
    response.kind === "object" && response.status >= 400 && isStatus(response.object)
      ? ` ${response.object.message ?? ""}`
      : "";
  return `${response.status}${reason}`;
}
