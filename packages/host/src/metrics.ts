/** Metrics in the model of Prometheus. Registering the same name twice returns the first instrument. */

export type MetricLabels = Readonly<Record<string, string>>;

/** A number that only grows. `add` without a value adds 1. */
export interface Counter {
  add(value?: number, labels?: MetricLabels): void;
}

/** A number that can rise and fall. `set` replaces the value of the series with these labels. */
export interface Gauge {
  set(value: number, labels?: MetricLabels): void;
}

/** Counts observed values by bucket, with their sum. Durations are in seconds, as in Prometheus. */
export interface Histogram {
  observe(value: number, labels?: MetricLabels): void;
}

/** A registry of metrics. A second call with the same name returns the metric that exists. */
export interface Metrics {
  counter(name: string, help: string): Counter;
  gauge(name: string, help: string): Gauge;
  /** `buckets` are upper bounds, ascending, without +Inf. */
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
  /**
   * Calls back before metrics are read, for values that are known anyway and not worth noting at every
   * change; ends when the returned function is called.
   */
  onExpose(collect: () => void): () => void;
  /**
   * Drops all series that have these labels, because what they tell of is gone: a cluster that has been
   * removed.
   */
  forget(labels: MetricLabels): void;
  /** The text exposition format, version 0.0.4. */
  expose(): string;
}

const nothing: Counter & Gauge & Histogram = { add() {}, set() {}, observe() {} };

/** Keeps nothing. */
export const noMetrics: Metrics = {
  counter: () => nothing,
  gauge: () => nothing,
  histogram: () => nothing,
  onExpose: () => () => {},
  forget() {},
  expose: () => "",
};
