/**
 * Connections that another listener accepted, such as those of pods; counted before the first read.
 */
import type { Socket } from "node:net";

/** In all: with those of this server's own listener, less than the files that a process may open. */
export const visitorsMax = 4_000;
/** Of one address: a pod opens one, or a few dozen. */
export const visitorsOfAddressMax = 250;

export class Visitors {
  readonly #byAddress = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Whether there is room for it; what is admitted is counted until it closes. */
  admit(socket: Socket): boolean {
    const { remoteAddress: address } = socket;
    // It closed while it was handed over.
    if (address === undefined) return false;
    if (this.#size >= visitorsMax || this.#of(address) >= visitorsOfAddressMax) return false;
    this.#count(address, 1);
    socket.once("close", () => this.#count(address, -1));
    return true;
  }

  #of(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }

  #count(address: string, change: number): void {
    this.#size += change;
    const own = this.#of(address) + change;
    if (own === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, own);
  }
}
