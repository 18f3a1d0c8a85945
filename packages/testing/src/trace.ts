import { createHash, type Hash } from "node:crypto";

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

interface PendingEntry {
  readonly entry: TraceEntry;
  readonly detail: unknown;
}

/** Entries, with what they carried, that are kept for the hash at most. */
const pendingMax = 1_000;

/** Everything that was asked in a world, in order. Two runs are the same when their hashes are. */
export class Trace {
  readonly entries: TraceEntry[] = [];
  #hash: Hash | undefined;
  /** What was not hashed yet: most runs end without anybody asking, so it waits until somebody does, or it is much. */
  #pending: PendingEntry[] = [];

  /** `detail`, a JSON value that nobody changes any more, counts for the hash, but is too long for a line. */
  add(entry: TraceEntry, detail?: unknown): void {
    this.entries.push(entry);
    this.#pending.push({ entry, detail });
    if (this.#pending.length >= pendingMax) this.#flush();
  }

  /** The hash of everything so far. */
  hash(): string {
    return this.#flush().copy().digest("hex");
  }

  lines(): readonly string[] {
    return this.entries.map(lineOf);
  }

  #flush(): Hash {
    const hash = (this.#hash ??= createHash("sha256"));
    hash.update(this.#pending.map(hashedText).join(""));
    this.#pending = [];
    return hash;
  }
}

function hashedText({ entry: { atMs, who, kind, what, outcome }, detail }: PendingEntry): string {
  return `${atMs} ${who} ${kind} ${what} ${outcome}\n${JSON.stringify(detail) ?? ""}\n`;
}

export function lineOf({ atMs, who, what, outcome }: TraceEntry): string {
  return `${(atMs / 1_000).toFixed(3).padStart(9)} s  ${who.padEnd(11)} ${what} → ${outcome}`;
}
