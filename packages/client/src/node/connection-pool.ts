/** The connections to one server: taken for a request, given back when its answer is whole. */
import type { Socket } from "node:net";
import { SetpointError } from "@setpoint/apimachinery";
import type { Clock, Timer } from "@setpoint/host";
import { type IncomingAnswer, KeptConnection, type OutgoingRequest } from "./kept-connection.ts";

/**
 * How many requests may wait for the head of their answer; the others wait for their turn. A watch has its
 * head at once, so it takes a connection and no turn.
 */
const requestsMax = 32;
/**
 * A request that has waited so long goes at once: those before it may wait for what it asks, as a write does
 * for our own webhook.
 */
const turnMsMax = 1_000;
/** How often connections are looked at. */
const lookMs = 25_000;
/**
 * Looks after which a connection that nobody has used is closed: before servers do it (kube-apiserver after
 * 90 s).
 */
const idleLooksMax = 2;
/**
 * Looks after which a server that owes an answer is given up, after 75 s at least: kube-apiserver itself
 * gives up after 60 s.
 */
const silentLooksMax = 4;

interface Watched {
  readonly bytesRead: number;
  readonly looks: number;
}

export interface PoolOptions {
  readonly clock: Clock;
  /** As errors name it. */
  readonly server: string;
  readonly open: () => Promise<Socket>;
}

export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #all = new Map<KeptConnection, Watched>();
  /** The one that was used last is taken first, so that what is not needed gets old. */
  #free: KeptConnection[] = [];
  #underway = 0;
  readonly #waiting = new Set<() => void>();
  #look: Timer | undefined;
  /** Raised when what connections are opened with has changed. */
  #generation = 0;
  /** Present when the pool is closed; resolved when its last connection is. */
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the head of the answer. Errors: those of `open` and `ERR_TRANSPORT_CLOSED`, nothing was
   * sent; `ERR_CONNECTION_LOST`; the signal's reason.
   */
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
    this.#closing ??= Promise.withResolvers();
    this.#look?.cancel();
    for (const connection of this.#all.keys()) connection.destroy();
    if (this.#all.size > 0) await this.#closing.promise;
  }

  freed(connection: KeptConnection): void {
    this.#free.push(connection);
    this.#all.set(connection, { bytesRead: connection.bytesRead, looks: 0 });
  }

  closed(connection: KeptConnection): void {
    this.#all.delete(connection);
    if (this.#all.size === 0) this.#closing?.resolve();
    this.#free = this.#free.filter((each) => each !== connection);
  }

  async #sendOn(request: OutgoingRequest): Promise<IncomingAnswer> {
    for (;;) {
      const free = this.#takeFree();
      const connection = free ?? (await this.#opened());
      if (request.signal?.aborted === true) this.freed(connection);
      request.signal?.throwIfAborted();
      const before = connection.bytesRead;
      try {
        return await connection.send(request);
      } catch (error) {
        // The server has closed it while it was idle: what only reads may be asked again, of a write nobody
        // knows.
        const isStale = free !== undefined && request.method === "GET" && connection.bytesRead === before;
        if (!isStale || request.signal?.aborted === true) throw error;
      }
    }
  }

  #takeFree(): KeptConnection | undefined {
    for (let kept = this.#free.pop(); kept !== undefined; kept = this.#free.pop()) if (kept.isOpen) return kept;
    return undefined;
  }

  async #opened(): Promise<KeptConnection> {
    const connection = new KeptConnection(await this.#openedSocket(), this);
    this.#all.set(connection, { bytesRead: connection.bytesRead, looks: 0 });
    this.#look ??= this.#nextLook();
    return connection;
  }

  async #openedSocket(): Promise<Socket> {
    for (;;) {
      this.#assertOpen();
      const generation = this.#generation;
      const socket = await this.#options.open();
      if (generation === this.#generation && this.#closing === undefined) return socket;
      socket.destroy();
    }
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    const message = `Cannot send to "${this.#options.server}": the transport is closed, expected an open one`;
    throw new SetpointError("ERR_TRANSPORT_CLOSED", message);
  }

  #nextLook(): Timer {
    return this.#options.clock.setTimer(() => this.#lookAtAll(), lookMs, { unref: true });
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
    this.#look = this.#all.size === 0 ? undefined : this.#nextLook();
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      this.#waiting.delete(resolve);
      reject(signal?.reason);
    };
    const timer = this.#options.clock.setTimer(() => this.#go(resolve), turnMsMax);
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
