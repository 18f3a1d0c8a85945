import { fingerprint } from "../objects/fingerprint.ts";

/**
 * Writes of one object of which the answer is remembered; the oldest is forgotten first, and costs a write
 * more.
 */
export const rememberedWritesMax = 10_000;

/** One write and its answer, each as a fingerprint: a thousand children must not be kept a second time. */
interface Answer {
  readonly wanted: string;
  readonly result: string;
}

/**
 * The server's answers to what was written for one object: only to leave out writes that would change
 * nothing. Losing it costs one write each and nothing else.
 */
export class WriteMemory {
  readonly #kinds = new Set<string>();
  /** By what was written. */
  readonly #answers = new Map<string, Answer>();

  get isEmpty(): boolean {
    return this.#kinds.size === 0 && this.#answers.size === 0;
  }

  /** How many answers are remembered. */
  get size(): number {
    return this.#answers.size;
  }

  /**
   * Whether the last write of `what` asked for the same and ended in the state that is there now. Both are
   * functions: of most writes nothing is remembered, and then neither is needed.
   */
  isKnownNoop(what: string, wanted: () => string, present: () => string): boolean {
    const last = this.#answers.get(what);
    return last !== undefined && last.wanted === fingerprint(wanted()) && last.result === fingerprint(present());
  }

  /** The plurals of what has been written so far. */
  kinds(): ReadonlySet<string> {
    return new Set(this.#kinds);
  }

  remember(what: string, wanted: string, result: string): void {
    this.#kinds.add(what.split("/")[0] ?? "");
    this.#answers.delete(what);
    this.#answers.set(what, { wanted: fingerprint(wanted), result: fingerprint(result) });
    if (this.#answers.size <= rememberedWritesMax) return;
    const oldest = this.#answers.keys().next();
    if (oldest.done !== true) this.#answers.delete(oldest.value);
  }

  /** That something of this kind was written, and not what: names that are used once would pile up. */
  rememberKind(plural: string): void {
    this.#kinds.add(plural);
  }

  /** What was written is no longer there; that there was something of its kind stays known. */
  drop(what: string): void {
    this.#answers.delete(what);
  }
}
