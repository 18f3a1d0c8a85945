import { isExpired } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Counter, MetricLabels, Metrics } from "@setpoint/host";
import type { SyncMethod } from "./sync-plan.ts";

/** The label value of a kind: `widgets.example.com`, as in CRD names. */
export function resourceName({ plural, group }: KindRef): string {
  return group === "" ? plural : `${plural}.${group}`;
}

interface KindLabels {
  readonly ofKind: MetricLabels;
  readonly ofLists: Readonly<Record<SyncMethod, MetricLabels>>;
}

const known = new WeakMap<KindRef, KindLabels>();

/** The same objects for the same kind: a registry remembers the text of labels that it has seen. */
function labelsOf(kind: KindRef): KindLabels {
  const found = known.get(kind);
  if (found !== undefined) return found;
  const ofKind = { kind: resourceName(kind) };
  const ofList = (method: SyncMethod): MetricLabels => ({ ...ofKind, method });
  const ofLists = { list: ofList("list"), watchList: ofList("watchList"), pages: ofList("pages") };
  const labels = { ofKind, ofLists };
  known.set(kind, labels);
  return labels;
}

/** Counts what a reflector goes through. */
export class ReflectorMetrics {
  readonly #labels: KindLabels;
  readonly #lists: Counter;
  readonly #reconnects: Counter;
  readonly #gaps: Counter;
  readonly #restores: Counter;

  constructor(metrics: Metrics, kind: KindRef) {
    this.#labels = labelsOf(kind);
    this.#lists = metrics.counter(
      "setpoint_cache_lists_total",
      "Complete lists that were begun, by the way they came.",
    );
    this.#reconnects = metrics.counter("setpoint_watch_breaks_total", "Streams that ended with an error.");
    this.#restores = metrics.counter(
      "setpoint_cache_restores_total",
      "Times that the cluster had gone back in time, as by a restore of etcd, and the cache was filled anew.",
    );
    this.#gaps = metrics.counter(
      "setpoint_watch_gaps_total",
      "Streams that could not be resumed and led to a new list.",
    );
  }

  /** The cluster has gone back in time. */
  restored(): void {
    this.#restores.add(1, this.#labels.ofKind);
  }

  listed(method: SyncMethod): void {
    this.#lists.add(1, this.#labels.ofLists[method]);
  }

  broke(error: unknown): void {
    this.#reconnects.add(1, this.#labels.ofKind);
    if (isExpired(error)) this.#gaps.add(1, this.#labels.ofKind);
  }
}
