import type { Clock } from "@setpoint/host";
import { compareResourceVersions } from "./resource-version.ts";

/**
 * The server must report an older newest revision so often, and for so long: another replica may only lag.
 */
const repeatsMin = 4;
const certainAfterMs = 60_000;

/**
 * Tells a server that lags from one whose etcd was restored from a backup. A consistent list is never older
 * than an earlier answer, so one that is older again and again proves a restore. A cache that ignored this
 * would not change until the revisions of the restored cluster have caught up.
 */
export class RestoreDetector {
  readonly #clock: Clock;
  #repeats = 0;
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether answers so far suggest a restore. */
  get isSuspected(): boolean {
    return this.#repeats > 0;
  }

  /** Takes the revision of a consistent answer; returns whether a restore is proven by now. */
  isProvenBy(resourceVersion: string, seen: string): boolean {
    if (compareResourceVersions(resourceVersion, seen) >= 0) {
      this.#repeats = 0;
      return false;
    }
    const nowMs = this.#clock.monotonic();
    if (this.#repeats++ === 0) this.#sinceMs = nowMs;
    return this.#repeats >= repeatsMin && nowMs - this.#sinceMs >= certainAfterMs;
  }

  /** The restore was handled. */
  accept(): void {
    this.#repeats = 0;
  }
}

/** The problem to report while a restore is suspected and not proven. */
export function restoreProblem(plural: string, resourceVersion: string, seen: string): string {
  return `Cannot list ${plural}: the server's newest revision is ${resourceVersion}, older than ${seen}, which it sent before; etcd was probably restored from a backup. The cache may be wrong until the server has reported this for ${certainAfterMs / 1_000} s; then the cache is relisted.`;
}
