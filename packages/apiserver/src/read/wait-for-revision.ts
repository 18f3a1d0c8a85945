import type { Clock } from "@setpoint/host";
import { resourceVersionTooLarge } from "../response/api-errors.ts";
import type { Storage } from "../storage/storage.ts";

/** How long a read waits for a revision that was not reached yet, as in upstream's watch cache. */
const futureRevisionWaitMs = 3_000;

/** Resolves when the storage has reached `revision`; a revision that does not come is a 504. */
export function waitForRevision(storage: Storage, clock: Clock, prefix: string, revision: number): Promise<void> {
  if (storage.revision >= revision) return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onProgress = (reached: number): void => {
    if (reached < revision) return;
    stop();
    resolve();
  };
  const timer = clock.setTimer(() => {
    stop();
    reject(resourceVersionTooLarge(revision, storage.revision));
  }, futureRevisionWaitMs);
  const watch = storage.watch(prefix, storage.revision, () => {}, onProgress);
  const stop = (): void => {
    timer.cancel();
    watch.cancel();
  };
  return promise;
}
