/** The connections to one server: taken for a request, given back when its answer is whole. */
import type { Socket } from "node:net";
import type { Clock, Timer } from "@setpoint/host";
import { connectionLost } from "./connection-lost.ts";
import { type IncomingAnswer, KeptConnection, type OutgoingRequest } from "./kept-connection.ts";

/**
 * How many requests may wait for the head of their answer; the others wait for their turn. A watch has its head at once, so it
 * takes a connection and no turn.
 */
const requestsMax = 32;
/** A request that has waited so long goes at once: those before it may wait for what it asks, as a write does for our own webhook. */
const turnMsMax = 1_000;
/** How often connections are looked at. */
const lookMs = 25_000;
/** Looks after which a connection that nobody has used is closed: before servers do it (kube-apiserver after 90 s). */
const idleLooksMax = 2;
/** Looks after which a server that owes an answer is given up, after 75 s at least: kube-apiserver itself gives up after 60 s. */
const silentLooksMax = 4;

interface Watched {
  readonly bytesRead: number;
  readonly looks: number;
}

export class ConnectionPool {
  readonly #open: () => Promise<Socket>;
  readonly #clock: Clock;
  readonly #all = new Map<KeptConnection, Watched>();
  /** The one that was used last is taken first, so that what is not needed gets old. */
  #free: KeptConnection[] = [];
  #underway = 0;
  readonly #waiting = new Set<() => void>();
  #look: Timer | undefined;
  /** Raised when what connections are opened with has changed. */
  #generation = 0;
  #isClosed = false;
  readonly #empty = Promise.withResolvers<void>();

  constructor(clock: Clock, open: () => Promise<Socket>) {
    this.#clock = clock;
    this.#open = open;
  }

  /** Resolves with the head of the answer. Errors: those of `open`; `ERR_CONNECTION_LOST`; the signal's reason. */
  async send(request: OutgoingRequest): Promise<IncomingAnswer> {
    if (this.#underway >= requestsMax) await this.#turn(request.signal);
    else this.#underway++;
    try {
      return await this.#sendOn(request);
    } finally {
      this.#passTurn();
    }
  }

  /** Connections carry no new request; those on which an answer comes are closed at its end. */
  retire(): void {
    this.#generation++;
    for (const connection of this.#all.keys()) connection.retire();
  }

  /** Resolves when all are closed; answers under way are cut. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#look?.cancel();
    for (const connection of this.#all.keys()) connection.destroy();
    if (this.#all.size > 0) await this.#empty.promise;
  }

  freed(connection: KeptConnection): void {
    this.#free.push(connection);
    this.#all.set(connection, { bytesRead: connection.bytesRead, looks: 0 });
  }

  closed(connection: KeptConnection): void {
    this.#all.delete(connection);
    if (this.#isClosed && this.#all.size === 0) this.#empty.resolve();
    this.#free = this.#free.filter((each) => each !== connection);
  }

  async #sendOn(request: OutgoingRequest): Promise<IncomingAnswer> {
    for (;;) {
      const kept = this.#takeFree();
      if (kept === undefined) return (await this.#opened(request.signal)).send(request);
      const before = kept.bytesRead;
      try {
        return await kept.send(request);
      } catch (error) {
        // The server has closed it while it was idle: what only reads may be asked again, of a write nobody knows.
        const isStale = request.method === "GET" && kept.bytesRead === before && request.signal?.aborted !== true;
        if (!isStale) throw error;
      }
    }
  }

  #takeFree(): KeptConnection | undefined {
    for (let kept = this.#free.pop(); kept !== undefined; kept = this.#free.pop()) if (kept.isOpen) return kept;
    return undefined;
  }

  async #opened(signal: AbortSignal | undefined): Promise<KeptConnection> {
    const connection = new KeptConnection(await this.#openedSocket(), this);
    this.#all.set(connection, { bytesRead: connection.bytesRead, looks: 0 });
    this.#look ??= this.#clock.setTimer(() => this.#lookAtAll(), lookMs, { unref: true });
    if (signal?.aborted === true) this.freed(connection);
    signal?.throwIfAborted();
    return connection;
  }

  async #openedSocket(): Promise<Socket> {
    for (;;) {
      const generation = this.#generation;
      const socket = await this.#open();
      if (generation === this.#generation && !this.#isClosed) return socket;
      socket.destroy();
      if (this.#isClosed) throw connectionLost(new Error("the transport was closed"));
    }
  }

  #lookAtAll(): void {
    for (const [connection, { bytesRead, looks }] of this.#all) {
      const isFree = this.#free.includes(connection);
      const isQuiet = connection.bytesRead === bytesRead && (isFree || connection.isWaiting);
      const next = { bytesRead: connection.bytesRead, looks: isQuiet ? looks + 1 : 0 };
      this.#all.set(connection, next);
      if (isFree && next.looks >= idleLooksMax) connection.retire();
      else if (next.looks >= silentLooksMax) connection.destroy(new Error("the server is silent"));
    }
    this.#look =
      this.#all.size === 0 ? undefined : this.#clock.setTimer(() => this.#lookAtAll(), lookMs, { unref: true });
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      this.#waiting.delete(resolve);
      reject(signal?.reason);
    };
    const timer = this.#clock.setTimer(() => this.#go(resolve), turnMsMax);
    this.#waiting.add(resolve);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #go(waiting: () => void): void {
    this.#waiting.delete(waiting);
    this.#underway++;
    waiting();
  }

  #passTurn(): void {
    this.#underway--;
    const [next] = this.#waiting;
    if (next !== undefined && this.#underway < requestsMax) this.#go(next);
  }
}
