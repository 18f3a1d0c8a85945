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

/** Characters. */
const pendingMax = 1 << 20;

/** Everything that was asked in a world, in order. Two runs are the same when their hashes are. */
export class Trace {
  readonly entries: TraceEntry[] = [];
  readonly #hash = createHash("sha256");
  /** What was not hashed yet: most runs end without anybody asking, so it waits until somebody does, or it is much. */
  #pending = "";

  /** `detail` counts for the hash, but is too long for a line. */
  add(entry: TraceEntry, detail = ""): void {
    this.entries.push(entry);
    const { atMs, who, kind, what, outcome } = entry;
    this.#pending += `${atMs} ${who} ${kind} ${what} ${outcome}\n${detail}\n`;
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
    this.#hash.update(this.#pending);
    this.#pending = "";
  }
}

export function lineOf({ atMs, who, what, outcome }: TraceEntry): string {
  return `${(atMs / 1_000).toFixed(3).padStart(9)} s  ${who.padEnd(11)} ${what} → ${outcome}`;
}
