/**
 * What programs have answered: the same question is not asked again, neither after an answer nor, for a
 * while, after a failure.
 */
import type { Clock } from "@setpoint/host";
import { TemporaryError } from "@setpoint/runtime";

interface Kept<A> {
  readonly question: string;
  readonly untilMs: number;
  readonly length: number;
  readonly answer?: A;
  readonly failure?: Error;
  readonly delayMs: number;
}

export interface Answered<A> {
  readonly answer: A;
  /** About how many characters it takes. */
  readonly length: number;
  /** After so long the same question is asked again; default: never. */
  readonly validMs?: number;
}

export interface AnswerMemoryOptions {
  readonly clock: Clock;
  /** Questions and answers kept; what was used longest ago goes first. */
  readonly charactersMax: number;
}

const retryDelayMsMin = 2_000;
const retryDelayMsMax = 300_000;

export class AnswerMemory<A> {
  readonly #options: AnswerMemoryOptions;
  /** In the order of their last use. */
  readonly #kept = new Map<string, Kept<A>>();
  #characters = 0;

  constructor(options: AnswerMemoryOptions) {
    this.#options = options;
  }

  /**
   * The answer for an id. A failure is thrown as a TemporaryError with the time of the next attempt; its
   * `cause` is the failure.
   */
  async get(id: string, question: string, signal: AbortSignal, ask: () => Promise<Answered<A>>): Promise<A> {
    const { clock } = this.#options;
    const kept = this.#take(id);
    const isSame = kept?.question === question;
    if (isSame && clock.monotonic() < kept.untilMs) {
      this.#put(id, kept);
      if (kept.failure !== undefined) throw later(kept.failure, kept.untilMs - clock.monotonic());
      if (kept.answer !== undefined) return kept.answer;
    }
    try {
      const { answer, length, validMs = Number.POSITIVE_INFINITY } = await ask();
      this.#put(id, { question, answer, length, untilMs: clock.monotonic() + validMs, delayMs: 0 });
      return answer;
    } catch (error) {
      // A caller that stops has learned nothing about the answer.
      if (signal.aborted || !(error instanceof Error)) throw error;
      const delayMs = Math.min(Math.max((isSame ? kept.delayMs : 0) * 2, retryDelayMsMin), retryDelayMsMax);
      this.#put(id, { question, failure: error, length: 0, untilMs: clock.monotonic() + delayMs, delayMs });
      throw later(error, delayMs);
    }
  }

  #take(id: string): Kept<A> | undefined {
    const kept = this.#kept.get(id);
    if (kept !== undefined) this.#characters -= sizeOf(kept);
    this.#kept.delete(id);
    return kept;
  }

  #put(id: string, kept: Kept<A>): void {
    this.#take(id);
    this.#kept.set(id, kept);
    this.#characters += sizeOf(kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= this.#options.charactersMax) return;
      this.#take(oldest);
    }
  }
}

function sizeOf({ question, length }: Kept<unknown>): number {
  return question.length + length;
}

function later(failure: Error, delayMs: number): TemporaryError {
  return new TemporaryError(failure.message, delayMs, { cause: failure });
}
