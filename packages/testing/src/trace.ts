import { createHash } from "node:crypto";

/** One thing that happened between two participants of a world. */
export interface TraceEntry {
  readonly atMs: number;
  /** Who asked: `operator`, `controllers`, `nodes`, `user`. */
  readonly who: string;
  /** What kind of request. A world at rest still watches, renews leases and looks at operands; it neither reads nor writes. */
  readonly kind: "read" | "look" | "watch" | "lease" | "write";
  /** For a person: verb and object. */
  readonly what: string;
  /** The status code, or what befell the request. */
  readonly outcome: string;
}

/** Entries, with the bodies of their requests. */
const pendingMax = 1_000;

/** Everything that was asked in a world, in order. Two runs are the same when their hashes are. */
export class Trace {
  readonly entries: TraceEntry[] = [];
  readonly #hash = createHash("sha256");
  /** Bodies of the last entries, which were not hashed yet: most runs end without anybody asking, so they wait until somebody does. */
  #pending: unknown[] = [];

  /** `body` counts for the hash, but is too long for a line; it must not change any more. */
  add(entry: TraceEntry, body?: unknown): void {
    this.entries.push(entry);
    this.#pending.push(body);
    if (this.#pending.length > pendingMax) this.#flush();
  }

  /** The hash of everything so far. */
  hash(): string {
    this.#flush();
    return this.#hash.copy().digest("hex");
  }

  lines(): readonly string[] {
    return this.entries.map(lineOf);
  }

  #flush(): void {
    const from = this.entries.length - this.#pending.length;
    for (const [i, { atMs, who, kind, what, outcome }] of this.entries.slice(from).entries())
      this.#hash.update(`${atMs} ${who} ${kind} ${what} ${outcome}\n${JSON.stringify(this.#pending[i]) ?? ""}\n`);
    this.#pending = [];
  }
}

export function lineOf({ atMs, who, what, outcome }: TraceEntry): string {
  return `${(atMs / 1_000).toFixed(3).padStart(9)} s  ${who.padEnd(11)} ${what} → ${outcome}`;
}
