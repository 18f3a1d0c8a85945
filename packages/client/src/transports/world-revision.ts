/**
 * Resource versions of a world that has the server's writes and pretended ones in it. The server's 123 is
 * 123000000 here, which leaves room for a million pretended revisions between two real ones.
 */
const room = "000000";

/** Hands out revisions and finds the server's ones again. */
export class WorldRevisions {
  #newest = 0n;
  /** Revisions that had to move behind the ones already delivered. */
  readonly #moved = new Map<string, string>();

  /** The server's revision as this world has it. */
  ofServer(revision: string | undefined): string | undefined {
    if (revision === undefined || !/^[1-9]\d*$/.test(revision)) return revision;
    const own = revision + room;
    this.#see(own);
    return own;
  }

  /** A new revision, later than everything that was ever told. */
  next(): string {
    this.#newest += 1n;
    return this.#newest.toString();
  }

  /** As `ofServer`, for what comes after `told` in a stream, in which revisions only grow. */
  after(told: string, revision: string): string {
    const own = this.ofServer(revision) ?? revision;
    if (told === "" || isLater(own, told)) return own;
    const moved = this.next();
    this.#moved.set(moved, revision);
    return moved;
  }

  /** The server's revision for one of this world; what the server did not say is given back as it is. */
  toServer(revision: string): string {
    const moved = this.#moved.get(revision);
    if (moved !== undefined) return moved;
    return revision.length > room.length ? revision.slice(0, -room.length) : revision;
  }

  #see(revision: string): void {
    const value = BigInt(revision);
    if (value > this.#newest) this.#newest = value;
  }
}

/** Whether revision `a` is later than `b`; both are decimal without leading zeros. */
export function isLater(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}
