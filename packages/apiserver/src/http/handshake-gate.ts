/**
 * What unauthenticated clients may use of the server. A handshake is work for the event loop
 * that all clients share. So handshakes get a part of each turn: in turns between the hosts and users that
 * they come from, and the newest of one first, because of too many those that wait for long help nobody. A
 * connection that has sent nothing costs no handshake.
 */
import type { Socket } from "node:net";
import type { Clock } from "@setpoint/host";
import { FairQueue } from "./fair-queue.ts";
import { LocalUsers } from "./local-users.ts";

/**
 * Connections whose handshake is not over; beyond it, the oldest of the source with the most of them goes. As
 * many may come in one turn, before anything is known of them.
 */
export const handshakesMax = 2_000;
/** Those of one source, once it is known. */
export const handshakesOfSourceMax = 500;
/** How long a client may take for its handshake. */
export const handshakeMsMax = 10_000;
/** What handshakes may use of one turn of the loop. */
const sliceMs = 4;
/** With so many at a time users of this host are distinguished. */
const crowd = 20;
/** Programs of this host may take any of its addresses. */
const thisHost = "this host";

type Ends = Pick<Socket, "remoteAddress" | "remotePort" | "localAddress" | "localPort">;

interface Arrival {
  readonly socket: Socket;
  readonly ends: string;
  readonly sinceMs: number;
  source: string;
}

export interface HandshakeGateOptions {
  readonly clock: Clock;
  /** Begins the handshake of a connection that has sent its first bytes. */
  readonly begin: (socket: Socket) => void;
  readonly users?: Pick<LocalUsers, "userOf">;
}

export class HandshakeGate {
  readonly #clock: Clock;
  readonly #begin: (socket: Socket) => void;
  readonly #users: Pick<LocalUsers, "userOf">;
  readonly #queue: FairQueue;
  readonly #byEnds = new Map<string, Arrival>();
  /** In the order of their arrival. */
  readonly #bySource = new Map<string, Set<Arrival>>();

  constructor({ clock, begin, users = new LocalUsers() }: HandshakeGateOptions) {
    this.#clock = clock;
    this.#begin = begin;
    this.#users = users;
    this.#queue = new FairQueue(clock, { sliceMs, newestFirst: true });
  }

  /** Connections whose handshake is not over. */
  get size(): number {
    return this.#byEnds.size;
  }

  /** Takes a connection that was accepted; it stays here until `passed`, or until it ends. */
  take(socket: Socket): void {
    const ends = endsOf(socket);
    const arrival: Arrival = { socket, ends, sinceMs: this.#clock.monotonic(), source: sourceOf(socket) };
    this.#byEnds.set(ends, arrival);
    this.#addToSource(arrival);
    if (this.size > handshakesMax) this.#dropOldest(this.#largest());
    socket.once("close", () => this.#forget(arrival));
    socket.on("error", () => socket.destroy());
    socket.once("readable", () => void this.#wait(arrival));
  }

  /** The handshake is over: other limits count the connection from now on. */
  passed(socket: Ends): void {
    this.#forget(this.#byEnds.get(endsOf(socket)));
  }

  /** Ends those that take too long. */
  closeLate(): void {
    const nowMs = this.#clock.monotonic();
    for (const { socket, sinceMs } of this.#byEnds.values()) if (nowMs - sinceMs > handshakeMsMax) socket.destroy();
  }

  /** Ends all. */
  close(): void {
    for (const { socket } of this.#byEnds.values()) socket.destroy();
  }

  async #wait(arrival: Arrival): Promise<void> {
    const { socket, source } = arrival;
    if (source === thisHost && this.size > crowd) {
      const user = await this.#users.userOf(socket);
      if (user !== undefined) this.#move(arrival, `user ${user} of ${thisHost}`);
    }
    await this.#queue.run(arrival.source, async () => {
      // It may have ended while it waited, or without a byte.
      if (socket.destroyed || socket.readableLength === 0) socket.destroy();
      else this.#begin(socket);
    });
  }

  #addToSource(arrival: Arrival): void {
    const own = this.#bySource.get(arrival.source) ?? new Set<Arrival>();
    this.#bySource.set(arrival.source, own);
    own.add(arrival);
    if (own.size > handshakesOfSourceMax && arrival.source !== thisHost) this.#dropOldest(own);
  }

  #move(arrival: Arrival, source: string): void {
    if (this.#byEnds.get(arrival.ends) !== arrival) return;
    this.#removeFromSource(arrival);
    arrival.source = source;
    this.#addToSource(arrival);
  }

  #forget(arrival: Arrival | undefined): void {
    if (arrival === undefined || this.#byEnds.get(arrival.ends) !== arrival) return;
    this.#byEnds.delete(arrival.ends);
    this.#removeFromSource(arrival);
  }

  #dropOldest(own: ReadonlySet<Arrival>): void {
    const [oldest] = own;
    this.#forget(oldest);
    oldest?.socket.destroy();
  }

  #removeFromSource(arrival: Arrival): void {
    const own = this.#bySource.get(arrival.source);
    own?.delete(arrival);
    if (own?.size === 0) this.#bySource.delete(arrival.source);
  }

  #largest(): ReadonlySet<Arrival> {
    let largest: ReadonlySet<Arrival> = new Set();
    for (const own of this.#bySource.values()) if (own.size > largest.size) largest = own;
    return largest;
  }
}

function sourceOf({ remoteAddress = "" }: Ends): string {
  const address = remoteAddress.replace(/^::ffff:/, "");
  if (address === "::1" || address.startsWith("127.")) return thisHost;
  // One host may have all addresses of such a network.
  return address.includes(":") ? address.split(":").slice(0, 4).join(":") : address;
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Ends): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
