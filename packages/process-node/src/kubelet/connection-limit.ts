import type { Socket } from "node:net";

/**
 * Bounds the connections to a server. When there are too many, the oldest one that was not yet used with a
 * right makes room, so that strangers cannot keep out clients that may use the server.
 */
export class ConnectionLimit {
  readonly #max: number;
  readonly #sockets = new Map<string, Socket>();
  readonly #trusted = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#sockets.size;
  }

  accept(socket: Socket): void {
    const key = keyOf(socket);
    this.#sockets.set(key, socket);
    socket.once("close", () => this.#forget(key, socket));
    if (this.#sockets.size > this.#max) this.#dropOldest(socket);
  }

  /** A request on this connection (or on the TLS socket over it) was authorized. */
  trust(socket: Socket): void {
    const key = keyOf(socket);
    if (this.#sockets.has(key)) this.#trusted.add(key);
  }

  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  #dropOldest(newest: Socket): void {
    for (const [key, socket] of this.#sockets) {
      if (this.#trusted.has(key) || socket === newest) continue;
      this.#forget(key, socket);
      return void socket.destroy();
    }
    newest.destroy();
  }

  #forget(key: string, socket: Socket): void {
    if (this.#sockets.get(key) !== socket) return;
    this.#sockets.delete(key);
    this.#trusted.delete(key);
  }
}

/** The same for a TLS socket and for the connection below it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
