import { type ApiError, isApiError } from "@setpoint/apimachinery";
import { sleep, type Host } from "@setpoint/host";

/** The first wait after an error, doubled up to the largest; half of it is jitter. */
const backoffMsFirst = 500;
const backoffMsMax = 30_000;
/** The wait before a short stream that has told something is resumed; half of it is jitter. */
const resumeMs = 50;
/** How often is asked whether a kind that the server does not serve has come. */
const unservedMsMax = 10_000;
/** What a server means that says 429 without a time: its cache of a kind is being filled. */
const retryAfterSecondsDefault = 1;
/** Errors in a row after which they are logged as warnings. */
const errorsBeforeWarning = 3;

/** What a reflector waits for after its streams, and what it says about it. */
export class WatchPatience {
  readonly #host: Host;
  readonly #resource: string;
  #errors = 0;
  #isWaitingSaid = false;

  constructor(host: Host, resource: string) {
    this.#host = host;
    this.#resource = resource;
  }

  /** Something went well: the next error is the first. */
  beginAnew(): void {
    this.#errors = 0;
  }

  /** The server has told something: the next time that it must be waited for is said again. */
  answered(): void {
    this.#isWaitingSaid = false;
  }

  /** Before a stream that has told something is resumed. */
  async resumeSoon(signal: AbortSignal): Promise<void> {
    await this.#sleep(resumeMs * this.#halfOfChance(), signal);
  }

  async backOff(signal: AbortSignal): Promise<void> {
    await this.#sleep(this.#nextBackoffMs(backoffMsMax) * this.#halfOfChance(), signal);
  }

  /** After a stream that ended with an error; `details` go to the log, `isTold` when a person knows of it already. */
  async afterError(error: unknown, isTold: boolean, details: object, signal: AbortSignal): Promise<void> {
    if (isApiError(error) && (error.code === 429 || error.code === 404)) return this.#afterNotYet(error, signal);
    // One cut stream is daily life; several in a row are for a person to see.
    const level = this.#errors < errorsBeforeWarning || isTold ? "debug" : "warn";
    this.#host.log[level]("Watch ended", { resource: this.#resource, ...details, error });
    return this.backOff(signal);
  }

  /** The server says that it is too early: its cache is being filled, or the kind has not come. */
  async #afterNotYet(error: ApiError, signal: AbortSignal): Promise<void> {
    const isUnserved = error.code === 404;
    if (!this.#isWaitingSaid && !isUnserved)
      this.#host.log.info("Waiting for the server's cache", { resource: this.#resource });
    this.#isWaitingSaid = true;
    const waitMs = isUnserved
      ? this.#nextBackoffMs(unservedMsMax)
      : (error.status.details?.retryAfterSeconds ?? retryAfterSecondsDefault) * 1_000;
    await this.#sleep(waitMs * (1 + this.#host.random.next() / 4), signal);
  }

  #nextBackoffMs(msMax: number): number {
    return Math.min(backoffMsFirst * 2 ** this.#errors++, msMax);
  }

  #halfOfChance(): number {
    return 0.5 + this.#host.random.next() / 2;
  }

  /** To its end, or until the signal aborts. */
  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(this.#host.clock, ms, signal).catch(() => {});
  }
}
