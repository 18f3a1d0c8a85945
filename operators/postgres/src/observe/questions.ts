/**
 * Asks instances what they are, all at once, and does not wait for one that gave no answer the last time: a
 * failover takes several observations, and each would last until the deadline of its question.
 */
import { BoundedMap } from "@setpoint/data-service";
import { type Clock, sleep } from "@setpoint/host";

/** Enough for all instances of an operator; one that is forgotten is waited for again. */
const instancesMax = 10_000;
/** For one that goes on answering after all. */
const patienceMs = 300;

export interface Question<T> {
  /** The UID of the pod that is asked. */
  readonly uid: string;
  readonly ask: () => Promise<T>;
}

/** `asked`: no answer has come to a question that goes on, and there is no use in another one. */
type Silence = "asked" | "unanswered";

export class Questions {
  readonly #silences = new BoundedMap<string, Silence>(instancesMax);

  /** The answers, by UID. One that comes later is none, and says that the next question is worth a wait. */
  async ask<T>(questions: readonly Question<T>[], clock: Clock): Promise<ReadonlyMap<string, T>> {
    const answers = new Map<string, T>();
    const put = async ({ uid, ask }: Question<T>): Promise<void> => {
      try {
        answers.set(uid, await ask());
        this.#silences.delete(uid);
      } catch {
        this.#silences.set(uid, "unanswered");
      }
    };
    const answering = questions.filter(({ uid }) => this.#silences.get(uid) === undefined);
    const silent = questions.filter(({ uid }) => this.#silences.get(uid) === "unanswered");
    for (const { uid } of silent) this.#silences.set(uid, "asked");
    await Promise.all([...answering.map(put), atMost(patienceMs, silent.map(put), clock)]);
    return new Map(answers);
  }
}

async function atMost(ms: number, all: readonly Promise<void>[], clock: Clock): Promise<void> {
  if (all.length === 0) return;
  const done = new AbortController();
  const ended = Promise.all(all).then(() => done.abort());
  await Promise.race([ended, sleep(clock, ms, done.signal).catch(() => {})]);
  done.abort();
}
