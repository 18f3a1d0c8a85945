/** A registry of metrics in memory, which prints the text format of Prometheus. */
import type { Counter, Gauge, Histogram, MetricLabels, Metrics } from "./metrics.ts";

/** Series of one metric; beyond it new label values are not counted, so that a mistake cannot eat the memory. */
const seriesMax = 10_000;

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly instrument: Counter & Gauge & Histogram;
  lines(): readonly string[];
  /** Drops the series whose labels, as text, are to be forgotten. */
  forget(isGone: (labels: string) => boolean): void;
}

const noop: Counter & Gauge & Histogram = { add() {}, set() {}, observe() {} };

export function createMetrics(): Metrics {
  const metrics = new Map<string, { readonly help: string; readonly metric: Metric }>();
  const collectors = new Set<() => void>();
  const register = (name: string, help: string, create: () => Metric): Metric => {
    const known = metrics.get(name);
    if (known !== undefined) return known.metric;
    const metric = create();
    metrics.set(name, { help, metric });
    return metric;
  };
  return {
    counter: (name, help) => register(name, help, () => numberMetric(name, "counter")).instrument,
    gauge: (name, help) => register(name, help, () => numberMetric(name, "gauge")).instrument,
    histogram: (name, help, buckets) => register(name, help, () => histogramMetric(name, buckets)).instrument,
    onExpose(collect) {
      collectors.add(collect);
      return () => void collectors.delete(collect);
    },
    forget(labels) {
      const pairs = Object.entries(labels).map(([name, value]) => `,${labelText({ [name]: value })},`);
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

function numberMetric(name: string, type: "counter" | "gauge"): Metric {
  const series = new Map<string, { value: number }>();
  const seriesOf = (labels: MetricLabels | undefined): { value: number } | undefined =>
    findOrAdd(series, labelText(labels), () => ({ value: 0 }));
  return {
    name,
    type,
    instrument: {
      ...noop,
      add(value = 1, labels) {
        const found = seriesOf(labels);
        if (found !== undefined) found.value += value;
      },
      set(value, labels) {
        const found = seriesOf(labels);
        if (found !== undefined) found.value = value;
      },
    },
    lines: () => [...series].map(([key, { value }]) => `${name}${braces(key)} ${numberText(value)}`),
    forget: (isGone) => forgetKeys(series, isGone),
  };
}

/** Undefined for a series that is not there when there are too many already. */
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

function histogramMetric(name: string, buckets: readonly number[]): Metric {
  const series = new Map<string, Distribution>();
  const observe = (value: number, labels?: MetricLabels): void => {
    const create = (): Distribution => ({ counts: buckets.map(() => 0), sum: 0, count: 0 });
    const found = findOrAdd(series, labelText(labels), create);
    if (found === undefined) return;
    const bucket = buckets.findIndex((bound) => value <= bound);
    if (bucket >= 0) found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
    found.sum += value;
    found.count++;
  };
  return {
    name,
    type: "histogram",
    instrument: { ...noop, observe },
    lines: () => [...series].flatMap(([key, distribution]) => distributionLines(name, key, buckets, distribution)),
    forget: (isGone) => forgetKeys(series, isGone),
  };
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

/** Texts of label objects that were seen before: whoever counts often passes the same object again. */
const labelTexts = new WeakMap<MetricLabels, string>();
const noLabels: MetricLabels = {};

function labelText(labels: MetricLabels = noLabels): string {
  let text = labelTexts.get(labels);
  if (text === undefined) labelTexts.set(labels, (text = writeLabels(labels)));
  return text;
}

/** Labels in the order of their names, so that equal sets are equal texts. */
function writeLabels(labels: MetricLabels): string {
  return Object.keys(labels)
    .sort()
    .map(
      (name) =>
        `${name}="${(labels[name] ?? "").replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')}"`,
    )
    .join(",");
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}
