import { fingerprint } from "../objects/fingerprint.ts";

/** Writes of one object of which the answer is remembered; the oldest is forgotten first, and costs a write more. */
export const rememberedWritesMax = 10_000;

/** One write and its answer, each as a fingerprint: a thousand children must not be kept a second time. */
interface Answer {
  readonly wanted: string;
  readonly result: string;
}

/** What is remembered of one object. */
interface Memory {
  /** The plurals of what has been written for it. */
  readonly kinds: Set<string>;
  /** By what was written. */
  readonly answers: Map<string, Answer>;
}

/**
 * What a controller remembers of the answers to its own writes, by the UID of the reconciled object: only to leave out writes
 * that would change nothing. Losing it costs one write each and nothing else.
 */
export class ReconcileMemory {
  readonly #memories = new Map<string, Memory>();

  /**
   * Whether the last write of `what` asked for the same and ended in the state that is there now. Each is asked only when it is
   * needed: of most writes nothing is remembered.
   */
  isKnownNoop(uid: string, what: string, wanted: () => string, present: () => string): boolean {
    const last = this.#memories.get(uid)?.answers.get(what);
    return last !== undefined && last.wanted === fingerprint(wanted()) && last.result === fingerprint(present());
  }

  /** The plurals of what has been written for this object, as of now. */
  kindsOf(uid: string): ReadonlySet<string> {
    return new Set(this.#memories.get(uid)?.kinds);
  }

  remember(uid: string, what: string, wanted: string, result: string): void {
    const { kinds, answers } = this.#of(uid);
    kinds.add(what.split("/")[0] ?? "");
    answers.delete(what);
    answers.set(what, { wanted: fingerprint(wanted), result: fingerprint(result) });
    if (answers.size <= rememberedWritesMax) return;
    const oldest = answers.keys().next();
    if (oldest.done !== true) answers.delete(oldest.value);
  }

  /** That something of this kind was written, and not what: names that are used once would pile up. */
  rememberKind(uid: string, plural: string): void {
    this.#of(uid).kinds.add(plural);
  }

  /** What was written is no longer there; that there was something of its kind stays known. */
  drop(uid: string, what: string): void {
    this.#memories.get(uid)?.answers.delete(what);
  }

  forget(uid: string): void {
    this.#memories.delete(uid);
  }

  /** How many answers are remembered of this object. */
  countOf(uid: string): number {
    return this.#memories.get(uid)?.answers.size ?? 0;
  }

  #of(uid: string): Memory {
    const known = this.#memories.get(uid);
    if (known !== undefined) return known;
    const memory: Memory = { kinds: new Set(), answers: new Map() };
    this.#memories.set(uid, memory);
    return memory;
  }
}
