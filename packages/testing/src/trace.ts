import { encodeJson } from "@setpoint/apimachinery";
import { createHash, type Hash } from "node:crypto";

/** One thing that happened between two participants of a world. */
export interface TraceEntry {
  readonly atMs: number;
  /** Who asked: `operator`, `controllers`, `nodes`, `user`. */
  readonly who: string;
  /**
   * The kind of request. In a world at rest operators still watch, renew leases and poll operands; they
   * neither read nor write.
   */
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
  /** Of the entries that wait no more; made with the first of them. */
  #hash: Hash | undefined;
  /**
   * Bodies of the last entries, not hashed yet. Most runs end without a request for the hash, so it is
   * computed on demand.
   */
  #pending: unknown[] = [];

  /** `body` counts for the hash, but is too long for a line; it must not change any more. */
  add(entry: TraceEntry, body?: unknown): void {
    this.entries.push(entry);
    this.#pending.push(body);
    if (this.#pending.length > pendingMax) this.#flush();
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
    const from = this.entries.length - this.#pending.length;
    for (const [i, { atMs, who, kind, what, outcome }] of this.entries.slice(from).entries())
      hash.update(`${atMs} ${who} ${kind} ${what} ${outcome}\n${encodeJson(this.#pending[i])}\n`);
    this.#pending = [];
    return hash;
  }
}

export function lineOf({ atMs, who, what, outcome }: TraceEntry): string {
  return `${(atMs / 1_000).toFixed(3).padStart(9)} s  ${who.padEnd(11)} ${what} → ${outcome}`;
}
