/** The core whose tests are put to the test, on which every operator stands. */
import { readFileSync } from "node:fs";
import { instrument, type Instrumented } from "./mutants.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Queue, cache, barrier, lease, retry, apply. */
export const coreFiles: readonly string[] = [
  "packages/runtime/src/queue/work-queue.ts",
  "packages/runtime/src/queue/priority-level.ts",
  "packages/runtime/src/queue/linked-list.ts",
  "packages/runtime/src/queue/delaying-queue.ts",
  "packages/runtime/src/queue/delay-heap.ts",
  "packages/runtime/src/queue/rate-limiter.ts",
  "packages/runtime/src/cache/store.ts",
  "packages/runtime/src/cache/raw/raw-objects.ts",
  "packages/runtime/src/cache/raw/raw-object-store.ts",
  "packages/runtime/src/cache/raw/slabs.ts",
  "packages/runtime/src/cache/store-index.ts",
  "packages/runtime/src/cache/informer.ts",
  "packages/runtime/src/cache/reflector.ts",
  "packages/runtime/src/cache/list-pager.ts",
  "packages/runtime/src/cache/watch-position.ts",
  "packages/runtime/src/cache/watch-backoff.ts",
  "packages/runtime/src/cache/watch-errors.ts",
  "packages/runtime/src/cache/restore-guard.ts",
  "packages/runtime/src/cache/reported-problem.ts",
  "packages/runtime/src/cache/restore-detector.ts",
  "packages/runtime/src/cache/raw/staged-list.ts",
  "packages/runtime/src/cache/watch-frames.ts",
  "packages/runtime/src/cache/watchdog.ts",
  "packages/runtime/src/cache/resource-version.ts",
  "packages/runtime/src/writes/own-writes.ts",
  "packages/runtime/src/writes/child-writer.ts",
  "packages/runtime/src/writes/child-set.ts",
  "packages/runtime/src/writes/place-child.ts",
  "packages/runtime/src/status/status-writer.ts",
  "packages/runtime/src/objects/covers.ts",
  "packages/runtime/src/objects/foreign-items.ts",
  "packages/runtime/src/objects/applied-mark.ts",
  "packages/runtime/src/coordination/leader-elector.ts",
  "packages/runtime/src/coordination/fenced-transport.ts",
  "packages/client/src/retry.ts",
];

/** By absolute path; ids are unique over all files. */
export function instrumentedFiles(): ReadonlyMap<string, Instrumented> {
  const files = new Map<string, Instrumented>();
  let firstId = 1;
  for (const file of coreFiles) {
    const instrumented = instrument(file, readFileSync(root + file, "utf8"), firstId);
    firstId += instrumented.mutants.length;
    files.set(root + file, instrumented);
  }
  return files;
}
