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

/** Entries, with what they carried, that are kept for the hash at most. */
const pendingMax = 1_000;

/** Everything that was asked in a world, in order. Two runs are the same when their hashes are. */
export class Trace {
  readonly entries: TraceEntry[] = [];
  readonly #hash = createHash("sha256");
  /** What was not hashed yet: most runs end without anybody asking, so it waits until somebody does, or it is much. */
  #pending: { readonly entry: TraceEntry; readonly detail: unknown }[] = [];

  /** `detail`, a JSON value that nobody changes any more, counts for the hash, but is too long for a line. */
  add(entry: TraceEntry, detail?: unknown): void {
    this.entries.push(entry);
    this.#pending.push({ entry, detail });
    if (this.#pending.length >= pendingMax) this.#flush();
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
    for (const { entry, detail } of this.#pending) {
      const { atMs, who, kind, what, outcome } = entry;
      this.#hash.update(`${atMs} ${who} ${kind} ${what} ${outcome}\n${JSON.stringify(detail) ?? ""}\n`);
    }
    this.#pending = [];
  }
}

export function lineOf({ atMs, who, what, outcome }: TraceEntry): string {
  return `${(atMs / 1_000).toFixed(3).padStart(9)} s  ${who.padEnd(11)} ${what} → ${outcome}`;
}
