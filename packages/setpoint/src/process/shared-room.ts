/**
 * A server's limited room (connections, bytes). A new client gets some; the peer that holds most of it idle
 * loses some.
 */

export interface RoomHolder {
  /** Who it is for: what one peer holds is counted together. */
  readonly peer: string;
  /** What it is held for is being done: it keeps its room. */
  readonly isBusy: boolean;
  /** Takes the room away. */
  yieldRoom(): void;
}

/**
 * Guarantees: never more than `max` is given. When there is no room left, the peer that holds the most of it
 * without doing anything makes way, beginning with what it has held for longest; so one peer alone can keep
 * nobody else out.
 */
export class SharedRoom<T extends RoomHolder> {
  readonly #max: number;
  /** In the order in which they came. */
  readonly #holders = new Map<T, number>();
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get holders(): readonly T[] {
    return [...this.#holders.keys()];
  }

  /** Whether the holder has got this much more; false: nobody has to make way before it has. */
  take(holder: T, amount: number): boolean {
    this.#holders.set(holder, (this.#holders.get(holder) ?? 0) + amount);
    this.#used += amount;
    while (this.#used > this.#max) {
      const next = this.#whoMakesWay();
      if (next === undefined || next === holder) {
        this.release(holder);
        return false;
      }
      this.release(next);
      next.yieldRoom();
    }
    return true;
  }

  release(holder: T): void {
    this.#used -= this.#holders.get(holder) ?? 0;
    this.#holders.delete(holder);
  }

  #whoMakesWay(): T | undefined {
    const held = new Map<string, { amount: number; readonly oldest: T }>();
    for (const [holder, amount] of this.#holders) {
      if (holder.isBusy) continue;
      const ofPeer = held.get(holder.peer);
      if (ofPeer === undefined) held.set(holder.peer, { amount, oldest: holder });
      else ofPeer.amount += amount;
    }
    let most: { readonly amount: number; readonly oldest: T } | undefined;
    for (const each of held.values()) if (most === undefined || each.amount > most.amount) most = each;
    return most?.oldest;
  }
}
