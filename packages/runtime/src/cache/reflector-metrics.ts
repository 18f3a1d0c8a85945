import { isExpired } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Counter, MetricLabels, Metrics } from "@setpoint/host";
import type { SyncMethod } from "./sync-plan.ts";

/** The label value of a kind: `widgets.example.com`, as in CRD names. */
export function resourceName({ plural, group }: KindRef): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** Counts the lists and broken streams of a reflector. */
export class ReflectorMetrics {
  readonly #labels: MetricLabels;
  readonly #lists: Counter;
  readonly #reconnects: Counter;
  readonly #gaps: Counter;
  readonly #restores: Counter;

  constructor(metrics: Metrics, kind: KindRef) {
    this.#labels = { kind: resourceName(kind) };
    this.#lists = metrics.counter("setpoint_cache_lists_total", "Complete lists that were started, by method.");
    this.#reconnects = metrics.counter("setpoint_watch_breaks_total", "Streams that ended with an error.");
    this.#restores = metrics.counter(
      "setpoint_cache_restores_total",
      "Restores of the cluster from a backup that the cache has noticed, and relisted after.",
    );
    this.#gaps = metrics.counter("setpoint_watch_gaps_total", "Streams that could not be resumed and led to a relist.");
  }

  /** The cluster was restored from a backup. */
  restored(): void {
    this.#restores.add(1, this.#labels);
  }

  listed(method: SyncMethod): void {
    this.#lists.add(1, { ...this.#labels, method });
  }

  broke(error: unknown): void {
    this.#reconnects.add(1, this.#labels);
    if (isExpired(error)) this.#gaps.add(1, this.#labels);
  }
}
