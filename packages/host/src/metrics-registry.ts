/** A registry of metrics in memory, which prints the text format of Prometheus. */
import type { Counter, Gauge, Histogram, MetricLabels, Metrics } from "./metrics.ts";

/**
 * Series of one metric; beyond it new label values are not counted, so that a mistake cannot eat the memory.
 */
const seriesMax = 10_000;

interface Metric extends Counter, Gauge, Histogram {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  lines(): readonly string[];
  /** Drops the series for whose labels, as text, `isGone` returns true. */
  forget(isGone: (labels: string) => boolean): void;
}

/**
 * An empty registry that keeps its values in memory. The first help text and buckets of a name are the ones
 * that count.
 */
export function createMetrics(): Metrics {
  const metrics = new Map<string, { readonly help: string; readonly metric: Metric }>();
  const collectors = new Set<() => void>();
  const register = (metric: Metric, help: string): Metric => {
    metrics.set(metric.name, { help, metric });
    return metric;
  };
  return {
    counter: (name, help) => metrics.get(name)?.metric ?? register(new NumberMetric(name, "counter"), help),
    gauge: (name, help) => metrics.get(name)?.metric ?? register(new NumberMetric(name, "gauge"), help),
    histogram: (name, help, buckets) =>
      metrics.get(name)?.metric ?? register(new DistributionMetric(name, buckets), help),
    onExpose(collect) {
      collectors.add(collect);
      return () => void collectors.delete(collect);
    },
    forget(labels) {
      const pairs = Object.entries(labels).map(([name, value]) => `,${writeLabels({ [name]: value })},`);
      const isGone = (text: string): boolean => pairs.every((pair) => `,${text},`.includes(pair));
      for (const { metric } of metrics.values()) metric.forget(isGone);
    },
    expose() {
      for (const collect of collectors) collect();
      return [...metrics.values()].map(({ help, metric }) => page(metric, help)).join("");
    },
  };
}

function page(metric: Metric, help: string): string {
  const escaped = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  const head = [`# HELP ${metric.name} ${escaped}`, `# TYPE ${metric.name} ${metric.type}`];
  return `${[...head, ...metric.lines()].join("\n")}\n`;
}

class NumberMetric implements Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly #series = new Map<string, { value: number }>();

  constructor(name: string, type: "counter" | "gauge") {
    this.name = name;
    this.type = type;
  }

  add(value = 1, labels?: MetricLabels): void {
    const found = this.#seriesOf(labels);
    if (found !== undefined) found.value += value;
  }

  set(value: number, labels?: MetricLabels): void {
    const found = this.#seriesOf(labels);
    if (found !== undefined) found.value = value;
  }

  /** The name belongs to a counter or gauge: a histogram of the same name is ignored. */
  observe(): void {}

  lines(): readonly string[] {
    return [...this.#series].map(([key, { value }]) => `${this.name}${braces(key)} ${numberText(value)}`);
  }

  forget(isGone: (labels: string) => boolean): void {
    forgetKeys(this.#series, isGone);
  }

  #seriesOf(labels: MetricLabels | undefined): { value: number } | undefined {
    return findOrAdd(this.#series, writeLabels(labels), () => ({ value: 0 }));
  }
}

/** Undefined when the metric has too many series for another one. */
function findOrAdd<T>(series: Map<string, T>, key: string, create: () => T): T | undefined {
  const found = series.get(key);
  if (found !== undefined || series.size >= seriesMax) return found;
  const added = create();
  series.set(key, added);
  return added;
}

interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

class DistributionMetric implements Metric {
  readonly name: string;
  readonly type = "histogram";
  readonly #buckets: readonly number[];
  readonly #series = new Map<string, Distribution>();

  constructor(name: string, buckets: readonly number[]) {
    this.name = name;
    this.#buckets = buckets;
  }

  observe(value: number, labels?: MetricLabels): void {
    const buckets = this.#buckets;
    const create = (): Distribution => ({ counts: buckets.map(() => 0), sum: 0, count: 0 });
    const found = findOrAdd(this.#series, writeLabels(labels), create);
    if (found === undefined) return;
    const bucket = buckets.findIndex((bound) => value <= bound);
    if (bucket >= 0) found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
    found.sum += value;
    found.count++;
  }

  /** The name belongs to a histogram: a counter or gauge of the same name is ignored. */
  add(): void {}
  set(): void {}

  lines(): readonly string[] {
    return [...this.#series].flatMap(([key, each]) => distributionLines(this.name, key, this.#buckets, each));
  }

  forget(isGone: (labels: string) => boolean): void {
    forgetKeys(this.#series, isGone);
  }
}

function forgetKeys(series: Map<string, unknown>, isGone: (key: string) => boolean): void {
  for (const key of series.keys()) if (isGone(key)) series.delete(key);
}

function distributionLines(
  name: string,
  key: string,
  buckets: readonly number[],
  { counts, sum, count }: Distribution,
): readonly string[] {
  const prefix = key === "" ? "" : `${key},`;
  let below = 0;
  const lines = buckets.map(
    (bound, index) => `${name}_bucket{${prefix}le="${numberText(bound)}"} ${(below += counts[index] ?? 0)}`,
  );
  return [
    ...lines,
    `${name}_bucket{${prefix}le="+Inf"} ${count}`,
    `${name}_sum${braces(key)} ${numberText(sum)}`,
    `${name}_count${braces(key)} ${count}`,
  ];
}

function braces(key: string): string {
  return key === "" ? "" : `{${key}}`;
}

/** Labels in the order of their names, so that equal sets are equal texts. */
function writeLabels(labels: MetricLabels = {}): string {
  const names = Object.keys(labels).toSorted();
  return names.map((name) => `${name}="${escaped(labels[name] ?? "")}"`).join(",");
}

function escaped(value: string): string {
  if (!/[\\\n"]/.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}
