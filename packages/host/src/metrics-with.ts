import type { MetricLabels, Metrics } from "./metrics.ts";

/** The same metrics, with labels that every series made through the result has too. */
export function metricsWith(metrics: Metrics, fixed: MetricLabels): Metrics {
  const both = (labels: MetricLabels = {}): MetricLabels => ({ ...fixed, ...labels });
  return {
    counter(name, help) {
      const inner = metrics.counter(name, help);
      return { add: (value, labels) => inner.add(value, both(labels)) };
    },
    gauge(name, help) {
      const inner = metrics.gauge(name, help);
      return { set: (value, labels) => inner.set(value, both(labels)) };
    },
    histogram(name, help, buckets) {
      const inner = metrics.histogram(name, help, buckets);
      return { observe: (value, labels) => inner.observe(value, both(labels)) };
    },
    onExpose: (refresh) => metrics.onExpose(refresh),
    forget: (labels) => metrics.forget(both(labels)),
    expose: () => metrics.expose(),
  };
}
