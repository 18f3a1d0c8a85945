/** How a system answers requests over a network: at once, late, never, or as if it were not there. */
import { type Clock, sleep } from "@setpoint/host";

/**
 * `down`: it refuses requests at once. `hung`: it takes the request and never answers. `partitioned`: nothing
 * of the request arrives. The client cannot tell the last two apart.
 */
export type Outage = "down" | "hung" | "partitioned";

/** When a caller gives up. */
const timeoutMs = 10_000;

/**
 * The network between an operator and a system outside of the cluster, with outages, delays and lost answers.
 */
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

  /** Each answer takes this much longer. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** The server executes the next requests, but the client gets a broken connection. */
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
    if (this.#outage === "down") throw new Error(`connect ECONNREFUSED ${this.#name}`);
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
