/**
 * A server, and processes beside it whose clocks may drift, which may be paused, killed and slow to be
 * answered.
 */
import {
  createKind,
  type ApiRequest,
  type ApiResponse,
  type Kind,
  type KubeObject,
  type Transport,
  type WatchFrame,
} from "@setpoint/apimachinery";
import { createApiServer, createMemoryStorage } from "@setpoint/apiserver";
import { createClient, type Client } from "@setpoint/client";
import { sleep, type Clock, type Host, type Timer } from "@setpoint/host";
import { simulatedHost, type SimulatedHost } from "@setpoint/host/simulated";
import { createMetrics } from "@setpoint/host/system";
import { anything, Event, Lease, served } from "../run/served-kinds.fixture.ts";

export interface Candy extends KubeObject {
  readonly spec: { readonly flavors: readonly string[]; readonly turn?: number };
  readonly status?: { readonly wrappers?: number; readonly turn?: number; readonly by?: string };
}

export const Candy: Kind<Candy> = createKind<Candy>({
  group: "example.com",
  version: "v1",
  kind: "Candy",
  plural: "candies",
  namespaced: true,
});

export interface Wrapper extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

export const Wrapper: Kind<Wrapper> = createKind<Wrapper>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

/** A process: what it sends and hears goes through `transport`, its time through `host`. */
export class FleetProcess implements Clock {
  readonly name: string;
  readonly transport: Transport;
  readonly host: Host;
  /** How long a request takes to arrive; asked for each. */
  latencyMs: (request: ApiRequest) => number = () => 0;
  /** Called when a watch of it ends. */
  onWatchEnd: () => void = () => {};
  readonly #watches = new Set<{ isMute: boolean; readonly cutter: AbortController }>();
  readonly #clock: Clock;
  readonly #rate: number;
  readonly #startMs: number;
  readonly #end = new AbortController();
  readonly #timers = new Set<Timer>();
  #offsetMs = 0;
  #paused: { readonly promise: Promise<void>; resolve(): void } | undefined;

  constructor(
    name: string,
    host: SimulatedHost,
    server: Transport,
    rate: number,
    onSent: (request: ApiRequest) => void,
  ) {
    this.name = name;
    this.#clock = host.clock;
    this.#rate = rate;
    this.#startMs = host.clock.monotonic();
    // As a process has them: what a dead one has registered must not keep it in memory.
    this.host = { ...host, clock: this, log: host.log.with({ process: name }), metrics: createMetrics() };
    this.transport = { send: (request, signal) => this.#send(server, request, signal, onSent) };
  }

  get isAlive(): boolean {
    return !this.#end.signal.aborted;
  }

  get isPaused(): boolean {
    return this.#paused !== undefined;
  }

  kill(): void {
    this.#end.abort(new Error("the process is dead"));
    this.cutWatches();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** Nothing of it happens for so long; then everything that was due. */
  pause(ms: number): void {
    if (this.#paused !== undefined) return;
    this.#paused = Promise.withResolvers<void>();
    this.#clock.setTimer(() => {
      const { resolve } = this.#paused ?? {};
      this.#paused = undefined;
      resolve?.();
    }, ms);
  }

  /** The watches that are open now stay open and tell nothing any more. */
  muteWatches(): void {
    for (const watch of this.#watches) watch.isMute = true;
  }

  /** The connections of the watches that are open now break. */
  cutWatches(): void {
    for (const { cutter } of this.#watches) cutter.abort(new Error("the connection of the watch broke"));
  }

  /** Sets its wall clock. */
  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  now(): number {
    return this.#clock.now() + this.#offsetMs;
  }

  monotonic(): number {
    return this.#startMs + (this.#clock.monotonic() - this.#startMs) * this.#rate;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    let isCancelled = !this.isAlive;
    if (isCancelled) return { cancel() {} };
    const timer = this.#clock.setTimer(() => {
      this.#timers.delete(timer);
      void this.#whenAwake(() => !isCancelled && callback());
    }, delayMs / this.#rate);
    this.#timers.add(timer);
    return {
      cancel: () => {
        isCancelled = true;
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  defer(callback: () => void): void {
    this.#clock.defer(() => void this.#whenAwake(callback));
  }

  async #whenAwake(act: () => void): Promise<void> {
    await this.#awake();
    if (this.isAlive) act();
  }

  async #awake(): Promise<void> {
    while (this.#paused !== undefined) await this.#paused.promise;
  }

  async #send(
    server: Transport,
    request: ApiRequest,
    signal: AbortSignal | undefined,
    onSent: (request: ApiRequest) => void,
  ): Promise<ApiResponse> {
    if (!this.isAlive) return new Promise(() => {});
    signal?.throwIfAborted();
    // What is sent is on its way, also when its sender dies or gives up.
    const latencyMs = this.latencyMs(request);
    if (latencyMs > 0) await sleep(this.#clock, latencyMs);
    const isWatch = request.query?.["watch"] !== undefined;
    onSent(request);
    if (isWatch) return this.#watch(server, request, signal);
    const response = await server.send(request);
    if (latencyMs > 0) await sleep(this.#clock, latencyMs);
    await this.#awake();
    if (!this.isAlive) return new Promise(() => {});
    signal?.throwIfAborted();
    return response;
  }

  async #watch(server: Transport, request: ApiRequest, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const watch = { isMute: false, cutter: new AbortController() };
    const cut = (): void => watch.cutter.abort(signal?.reason ?? new Error("the process is dead"));
    signal?.addEventListener("abort", cut, { once: true });
    this.#watches.add(watch);
    const ended = (): void => {
      this.#watches.delete(watch);
      signal?.removeEventListener("abort", cut);
      this.onWatchEnd();
    };
    const response = await server.send(request, watch.cutter.signal);
    if (response.kind === "watch") return { ...response, frames: this.#frames(response.frames, watch, ended) };
    ended();
    return response;
  }

  async *#frames(
    frames: AsyncIterable<WatchFrame>,
    watch: { readonly isMute: boolean },
    ended: () => void,
  ): AsyncGenerator<WatchFrame> {
    try {
      for await (const frame of frames) {
        await this.#awake();
        if (!watch.isMute) yield frame;
      }
    } finally {
      ended();
    }
  }
}

/** A request that reached the server, and who sent it when. */
export interface Arrival {
  readonly process: FleetProcess;
  readonly atMs: number;
  readonly request: ApiRequest;
}

export class Fleet implements AsyncDisposable {
  readonly host: SimulatedHost;
  readonly client: Client;
  /** Told of every request when it reaches the server. */
  onArrival: (arrival: Arrival) => void = () => {};
  readonly #server: ReturnType<typeof createApiServer>;

  constructor(seed: number, host: SimulatedHost = simulatedHost(seed)) {
    this.host = host;
    const builtin = [served(Candy, anything), served(Wrapper), served(Lease), served(Event)];
    this.#server = createApiServer({ host: this.host, storage: createMemoryStorage(this.host), builtin });
    this.client = createClient(this.transportOf("user"), this.host);
  }

  transportOf(username: string): Transport {
    return this.#server.transport({ username, groups: ["system:masters"] });
  }

  process(name: string, rate = 1): FleetProcess {
    const process: FleetProcess = new FleetProcess(name, this.host, this.transportOf(name), rate, (request) =>
      this.onArrival({ process, atMs: this.host.clock.monotonic(), request }),
    );
    return process;
  }

  run(ms: number, done?: () => boolean): Promise<boolean> {
    return this.host.clock.run(ms, done);
  }

  /** Something that needs time to pass. */
  wait<T>(promise: Promise<T>, limitMs = 120_000): Promise<T> {
    return this.host.clock.wait(promise, limitMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}

export function isWrite({ method }: ApiRequest): boolean {
  return method !== "GET" && method !== "HEAD";
}

export function isLeaseRequest({ path }: ApiRequest): boolean {
  return path.startsWith("/apis/coordination.k8s.io/");
}
