/** How something answers that a program asks over a network: at once, late, never, or as if it were not there. */
import { type Clock, sleep, stackless } from "@setpoint/host";

/**
 * `down`: refused at once. `hung`: it takes the request and never answers. `partitioned`: nothing of the request arrives. Both of
 * the last look the same to who asks.
 */
export type Outage = "down" | "hung" | "partitioned";

/** When a caller gives up. */
const timeoutMs = 10_000;

export class Reachability {
  readonly #name: string;
  #outage: Outage | undefined;
  #delayMs = 0;
  #answersToLose = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  fail(outage: Outage): void {
    this.#outage = outage;
  }

  /** Each answer takes so much longer. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** The next requests are done, and who asked is told that the connection broke. */
  loseAnswers(count: number): void {
    this.#answersToLose = count;
  }

  /** Everything is as it was. */
  heal(): void {
    this.#outage = undefined;
    this.#delayMs = 0;
    this.#answersToLose = 0;
  }

  /** Does the work of a request, if it arrives, and answers as it is. */
  async answer<T>(clock: Clock, work: () => T | Promise<T>): Promise<T> {
    if (this.#outage === "down") throw stackless(() => new Error(`connect ECONNREFUSED ${this.#name}`));
    if (this.#outage !== undefined) await this.#timedOut(clock);
    if (this.#delayMs > 0) await sleep(clock, Math.min(this.#delayMs, timeoutMs));
    const answer = await work();
    if (this.#delayMs >= timeoutMs) throw new Error(`read ETIMEDOUT ${this.#name}`);
    if (this.#answersToLose > 0) {
      this.#answersToLose--;
      throw new Error(`read ECONNRESET ${this.#name}`);
    }
    return answer;
  }

  async #timedOut(clock: Clock): Promise<never> {
    await sleep(clock, timeoutMs);
    throw new Error(`connect ETIMEDOUT ${this.#name}`);
  }
}
