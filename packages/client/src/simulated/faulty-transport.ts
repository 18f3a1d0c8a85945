/** Puts faults that a legal Kubernetes and network may show between a client and a server. */
import {
  failure,
  type ApiRequest,
  type ApiResponse,
  type Status,
  type StatusReason,
  type Transport,
  type WatchFrame,
} from "@setpoint/apimachinery";

/**
 * A request on its way, with its place in the order of all requests and of all writes (from 1; 0 for reads).
 */
export interface SentRequest {
  readonly request: ApiRequest;
  readonly number: number;
  readonly writeNumber: number;
  readonly isWatch: boolean;
}

/**
 * What befalls a request: `drop` loses it before the server sees it, `lose` loses the answer of a request
 * that the server has done, `refuse` answers instead of the server, `cut` lets a watch through and breaks it
 * after so many frames, `crash` ends everything that the program sends or hears, before or after the request,
 * and tells the test by `onCrash`.
 */
export type Fault =
  | { readonly kind: "drop" }
  | { readonly kind: "lose" }
  | { readonly kind: "refuse"; readonly code: 409 | 410 | 429 | 500 | 503 | 504; readonly retryAfterSeconds?: number }
  | { readonly kind: "cut"; readonly afterFrames: number }
  | { readonly kind: "crash"; readonly when: "before" | "after" };

/** Chooses the fault of a request; undefined lets it pass. */
export type FaultPlan = (sent: SentRequest) => Fault | undefined;

const reasons: Readonly<Record<number, StatusReason>> = {
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** A transport with faults, which also remembers what was sent. */
export class FaultyTransport implements Transport {
  readonly #inner: Transport;
  readonly #onCrash: () => void;
  /** May be replaced while the program runs. */
  plan: FaultPlan;
  /** Every request so far, in order. */
  readonly sent: SentRequest[] = [];
  readonly #openWatches = new Set<() => void>();
  #isCrashed = false;

  constructor(inner: Transport, plan: FaultPlan = () => undefined, onCrash: () => void = () => {}) {
    this.#inner = inner;
    this.#onCrash = onCrash;
    this.plan = plan;
  }

  get writes(): readonly SentRequest[] {
    return this.sent.filter((each) => each.writeNumber > 0);
  }

  /** Breaks all watches that are open now. */
  cutWatches(): void {
    for (const cut of this.#openWatches) cut();
  }

  async send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    if (this.#isCrashed) throw new Error("the program has crashed");
    const sent = this.#record(request);
    const fault = this.plan(sent);
    switch (fault?.kind) {
      case "drop":
        throw new Error("the connection broke before the request was received");
      case "lose":
        await this.#inner.send(request, signal);
        throw new Error("the connection broke before the answer was received");
      case "refuse":
        return refusal(fault.code, fault.retryAfterSeconds);
      case "crash":
        if (fault.when === "after") await this.#inner.send(request, signal);
        this.#crash();
        return new Promise(() => {});
      case "cut":
      case undefined:
        return this.#pass(request, signal, fault?.kind === "cut" ? fault.afterFrames : Number.POSITIVE_INFINITY);
    }
  }

  /** A dead program sends nothing more and hears nothing more; a new one gets a transport of its own. */
  #crash(): void {
    this.#isCrashed = true;
    this.cutWatches();
    this.#onCrash();
  }

  #record(request: ApiRequest): SentRequest {
    const isWrite = request.method !== "GET" && request.method !== "HEAD";
    const sent = {
      request,
      number: this.sent.length + 1,
      writeNumber: isWrite ? this.writes.length + 1 : 0,
      isWatch: request.query?.["watch"] !== undefined,
    };
    this.sent.push(sent);
    return sent;
  }

  async #pass(request: ApiRequest, signal: AbortSignal | undefined, framesMax: number): Promise<ApiResponse> {
    const cutter = new AbortController();
    const both = signal === undefined ? cutter.signal : AbortSignal.any([signal, cutter.signal]);
    const response = await this.#inner.send(request, both);
    if (response.kind !== "watch") return response;
    const cut = (): void => cutter.abort(new Error("the connection of the watch broke"));
    return { ...response, frames: this.#frames(response.frames, cut, framesMax) };
  }

  async *#frames(frames: AsyncIterable<WatchFrame>, cut: () => void, framesMax: number): AsyncGenerator<WatchFrame> {
    this.#openWatches.add(cut);
    try {
      let count = 0;
      if (count >= framesMax) cut();
      for await (const frame of frames) {
        yield frame;
        if (++count >= framesMax) cut();
      }
    } finally {
      this.#openWatches.delete(cut);
    }
  }
}

function refusal(code: number, retryAfterSeconds: number | undefined): ApiResponse {
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  const status: Status = failure(code, reasons[code] ?? "InternalError", "a fault of the test", details);
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { kind: "object", status: code, headers, object: status };
}
