import { type ApiError, isApiError } from "@setpoint/apimachinery";
import { sleep, type Host } from "@setpoint/host";

/** The first wait after an error, doubled up to the largest; half of it is jitter. */
const backoffMsFirst = 500;
const backoffMsMax = 30_000;
/** The wait before a short stream that brought changes is resumed; half of it is jitter. */
const resumeMs = 50;
/** The longest wait before asking again for a kind that the server does not serve. */
const unservedMsMax = 10_000;
/** The wait after 429 without Retry-After: the server fills its cache of the kind. */
const retryAfterSecondsDefault = 1;
/** Errors in a row after which they are logged as warnings. */
const errorsBeforeWarning = 3;

/** How long a reflector waits before its next stream, and what it logs about it. */
export class WatchBackoff {
  readonly #host: Host;
  readonly #resource: string;
  #errors = 0;
  #isWaitingLogged = false;

  constructor(host: Host, resource: string) {
    this.#host = host;
    this.#resource = resource;
  }

  /** A stream succeeded: the next error is the first. */
  reset(): void {
    this.#errors = 0;
  }

  /** The server has sent something: the next wait for its cache is logged again. */
  answered(): void {
    this.#isWaitingLogged = false;
  }

  /** Waits before a stream that brought changes is resumed. */
  async waitShortly(signal: AbortSignal): Promise<void> {
    await this.#sleep(resumeMs * this.#jitter(), signal);
  }

  async wait(signal: AbortSignal): Promise<void> {
    await this.#sleep(this.#nextBackoffMs(backoffMsMax) * this.#jitter(), signal);
  }

  /**
   * Waits after a stream that ended with an error; `details` go to the log; `isReported`: a person knows of
   * it already.
   */
  async waitAfterError(error: unknown, isReported: boolean, details: object, signal: AbortSignal): Promise<void> {
    if (isApiError(error) && (error.code === 429 || error.code === 404)) return this.#waitUntilServed(error, signal);
    // One cut stream is usual; several in a row are a warning.
    const level = this.#errors < errorsBeforeWarning || isReported ? "debug" : "warn";
    this.#host.log[level]("Watch ended", { resource: this.#resource, ...details, error });
    return this.wait(signal);
  }

  /** The server is not ready: it fills its cache, or the kind is not served yet. */
  async #waitUntilServed(error: ApiError, signal: AbortSignal): Promise<void> {
    const isUnserved = error.code === 404;
    if (!this.#isWaitingLogged && !isUnserved)
      this.#host.log.info("Waiting for the server's cache", { resource: this.#resource });
    this.#isWaitingLogged = true;
    const waitMs = isUnserved
      ? this.#nextBackoffMs(unservedMsMax)
      : (error.status.details?.retryAfterSeconds ?? retryAfterSecondsDefault) * 1_000;
    await this.#sleep(waitMs * (1 + this.#host.random.next() / 4), signal);
  }

  #nextBackoffMs(msMax: number): number {
    return Math.min(backoffMsFirst * 2 ** this.#errors++, msMax);
  }

  #jitter(): number {
    return 0.5 + this.#host.random.next() / 2;
  }

  /** To its end, or until the signal aborts. */
  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(this.#host.clock, ms, signal).catch(() => {});
  }
}
