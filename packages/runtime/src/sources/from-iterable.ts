import type { NamespacedName } from "@setpoint/apimachinery";
import type { Source, SourcePorts } from "../controller/source.ts";
import type { CacheReader } from "../controller/watch-definition.ts";

/** Opens the stream; called again for each reconnect. Aborts its connection when the signal does. */
export type OpenIterable<T> = (signal: AbortSignal) => AsyncIterable<T>;

/** Options of `fromIterable`. */
export interface IterableOptions {
  /** Default "iterable"; needed when a controller has several. */
  readonly name?: string;
}

/**
 * Enqueues keys for the items of an outside stream: a message queue, a webhook broker, another API's watch.
 * `map` returns the keys of one item. `open` is called again after the stream has thrown or ended, with a
 * growing back-off.
 *
 * Assumption: the stream does not repeat what it sent while it was disconnected. A controller that must not
 * miss it also polls with `every(…)`. A stop calls the iterator's `return()`, so a generator's `finally`
 * runs.
 */
export function fromIterable<T>(
  open: OpenIterable<T>,
  map: (item: T, cache: CacheReader) => readonly NamespacedName[],
  { name = "iterable" }: IterableOptions = {},
): Source {
  return { name, run: (ports) => consume(open, map, ports) };
}

async function consume<T>(
  open: OpenIterable<T>,
  map: (item: T, cache: CacheReader) => readonly NamespacedName[],
  ports: SourcePorts,
): Promise<void> {
  const { signal, cache, wake, works } = ports;
  const iterator = open(signal)[Symbol.asyncIterator]();
  const aborted = untilAborted(signal);
  try {
    for (;;) {
      const item = await Promise.race([iterator.next(), aborted]);
      if (signal.aborted || item === undefined) return;
      if (item.done === true) throw new Error("the stream has ended");
      works();
      for (const key of map(item.value, cache)) wake(key);
    }
  } finally {
    // Not awaited when it hangs in `next()`: a generator answers `return()` only after that.
    const closing = Promise.resolve(iterator.return?.()).catch(() => {});
    if (!signal.aborted) await closing;
  }
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
