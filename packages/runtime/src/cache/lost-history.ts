import type { Clock } from "@setpoint/host";
import { compareResourceVersions } from "./resource-version.ts";

/** So often, and for so long, the server must say that its newest revision is an older one: another replica may only lag. */
const repeatsMin = 4;
const certainAfterMs = 60_000;

/**
 * Tells a server that lags from one whose history was replaced, as by a restore of etcd: a consistent list is never older than what
 * was seen, and one that is so again and again comes from a cluster that has gone back in time. Not to believe it would leave a cache
 * as it is for as long as the new history is shorter than the old one.
 */
export class LostHistory {
  readonly #clock: Clock;
  #repeats = 0;
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the server has gone back, as far as is known. */
  get isSuspected(): boolean {
    return this.#repeats > 0;
  }

  /** The revision of a consistent answer; says whether it proves by now that what was seen is of another history. */
  isProvenBy(resourceVersion: string, seen: string): boolean {
    if (compareResourceVersions(resourceVersion, seen) >= 0) {
      this.#repeats = 0;
      return false;
    }
    const nowMs = this.#clock.monotonic();
    if (this.#repeats++ === 0) this.#sinceMs = nowMs;
    return this.#repeats >= repeatsMin && nowMs - this.#sinceMs >= certainAfterMs;
  }

  /** It is believed. */
  accept(): void {
    this.#repeats = 0;
  }
}

/** What a person reads while it is not certain yet. */
export function lostHistoryProblem(plural: string, resourceVersion: string, seen: string): string {
  return `Cannot list ${plural}: the server's newest revision is ${resourceVersion}, older than ${seen}, which was seen already, as after a restore of etcd; what the cache shows may never have been; it is listed anew when the server has said so for ${certainAfterMs / 1_000} s`;
}
