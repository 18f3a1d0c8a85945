import type { Gauge, Metrics } from "@setpoint/host";
import type { Informer } from "./informer.ts";
import { resourceName } from "./reflector-metrics.ts";

/** What the caches hold now, by kind; several caches of a kind (one for each namespace) are added up. */
export class CacheGauges {
  readonly #objects: Gauge;
  readonly #bytes: Gauge;
  readonly #keptBytes: Gauge;
  readonly #silence: Gauge;

  constructor(metrics: Metrics) {
    this.#objects = metrics.gauge("setpoint_cache_objects", "Objects in the cache.");
    this.#bytes = metrics.gauge("setpoint_cache_bytes", "JSON of the cached objects that came as bytes.");
    this.#keptBytes = metrics.gauge("setpoint_cache_kept_bytes", "Memory that this JSON takes, packed in parts.");
    this.#silence = metrics.gauge("setpoint_cache_age_seconds", "Time since the server was last heard of the kind.");
  }

  report(informers: readonly Informer[]): void {
    const sums = new Map<string, { objects: number; bytes: number; kept: number; silentMs: number }>();
    for (const { kind, store, ...informer } of informers.map(shown)) {
      const sum = sums.get(kind) ?? { objects: 0, bytes: 0, kept: 0, silentMs: 0 };
      sums.set(kind, {
        objects: sum.objects + store.size,
        bytes: sum.bytes + store.bytes,
        kept: sum.kept + store.keptBytes,
        silentMs: Math.max(sum.silentMs, informer.silentMs),
      });
    }
    for (const [kind, { objects, bytes, kept, silentMs }] of sums) {
      this.#objects.set(objects, { kind });
      this.#bytes.set(bytes, { kind });
      this.#keptBytes.set(kept, { kind });
      this.#silence.set(silentMs / 1_000, { kind });
    }
  }
}

function shown(informer: Informer): { kind: string; store: Informer["store"]; silentMs: number } {
  return { kind: resourceName(informer.kind), store: informer.store, silentMs: informer.silentForMs() ?? 0 };
}
