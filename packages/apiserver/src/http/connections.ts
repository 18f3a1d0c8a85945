/**
 * Limits the connections of a server: their number in all and by user, and their idle time.
 */
import type { Clock } from "@setpoint/host";

/** Less than the files that a process may open; each costs some 50 kB. */
export const connectionsMax = 4_000;
/** A client opens one, or a few dozen; several clients may share an account. */
export const connectionsOfUserMax = 500;
/** A client that has shown a certificate or a token may be quiet for so long between requests. */
export const idleMsMax = 120_000;
/** One that has shown nothing yet. */
export const silentMsMax = 15_000;

export interface ConnectionOptions {
  /** The user of the client certificate; "" without one. */
  readonly owner: string;
  readonly destroy: () => void;
}

/** One connection, of whatever protocol. */
export class Connection {
  readonly destroy: () => void;
  owner: string;
  /** Requests in flight. */
  open = 0;
  usedMs: number;
  hasAsked = false;

  constructor({ owner, destroy }: ConnectionOptions, nowMs: number) {
    this.owner = owner;
    this.destroy = destroy;
    this.usedMs = nowMs;
  }

  get isIdle(): boolean {
    return this.open === 0;
  }
}

export class Connections {
  readonly #clock: Clock;
  /** In the order in which they were opened. */
  readonly #byOwner = new Map<string, Set<Connection>>();
  #size = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * A new connection takes the place of an idle one when there are too many; without one it is closed itself.
   */
  add(options: ConnectionOptions): Connection {
    const connection = new Connection(options, this.#clock.monotonic());
    this.#put(connection);
    if (this.#size > connectionsMax) this.#shrink(this.#largest(), connection);
    return connection;
  }

  remove(connection: Connection): void {
    const own = this.#byOwner.get(connection.owner);
    if (own?.delete(connection) !== true) return;
    this.#size--;
    if (own.size === 0) this.#byOwner.delete(connection.owner);
  }

  /** A request has begun on it. */
  begin(connection: Connection): void {
    connection.open++;
  }

  /** A request on it is of this user. */
  own(connection: Connection, owner: string): void {
    connection.hasAsked = true;
    if (connection.owner === owner) return;
    this.remove(connection);
    connection.owner = owner;
    this.#put(connection);
  }

  end(connection: Connection): void {
    connection.open--;
    connection.usedMs = this.#clock.monotonic();
  }

  /** Closes those that have done nothing for too long. */
  closeIdle(): void {
    const nowMs = this.#clock.monotonic();
    for (const own of this.#byOwner.values())
      for (const each of own) {
        const idleMs = each.isIdle ? nowMs - each.usedMs : 0;
        if (idleMs > (each.hasAsked ? idleMsMax : silentMsMax)) each.destroy();
      }
  }

  #put(connection: Connection): void {
    const own = this.#byOwner.get(connection.owner) ?? new Set();
    this.#byOwner.set(connection.owner, own);
    own.add(connection);
    this.#size++;
    if (own.size > connectionsOfUserMax) this.#shrink(own, connection);
  }

  #shrink(own: ReadonlySet<Connection>, newest: Connection): void {
    for (const each of own)
      if (each.isIdle && each !== newest) {
        this.remove(each);
        return each.destroy();
      }
    if (!newest.isIdle) return;
    this.remove(newest);
    newest.destroy();
  }

  #largest(): ReadonlySet<Connection> {
    let largest: ReadonlySet<Connection> = new Set();
    for (const own of this.#byOwner.values()) if (own.size > largest.size) largest = own;
    return largest;
  }
}
