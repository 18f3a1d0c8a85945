/** How a server or an agent stores samples. */
import type { PrometheusSpec } from "../kind/prometheus.ts";
import { decimalOf } from "./decimal.ts";
import { ConfigurationRefused, field, type Generation, given, has, type Section, since } from "./generation.ts";

/** How long data are kept when neither a time nor a size says it. */
export const defaultRetention = "24h";

export function retentionTime(spec: PrometheusSpec): string | undefined {
  const size = given(spec.retentionSize);
  return given(spec.retention) ?? (size === undefined ? defaultRetention : undefined);
}

export function storageSection(generation: Generation, spec: PrometheusSpec): Section {
  const maxSize = spec.exemplars?.maxSize;
  const exemplars = maxSize === undefined ? undefined : { max_exemplars: maxSize };
  const tsdb = { ...tsdbFields(generation, "2.39.0"), ...retentionField(generation, spec) };
  const storage = {
    ...since(generation, "2.29.0", "exemplars", exemplars),
    ...field("tsdb", nonEmpty(tsdb)),
  };
  return since(generation, "2.29.0", "storage", nonEmpty(storage));
}

/** An agent keeps samples until they are sent. */
export function agentStorageSection(generation: Generation): Section {
  const tsdb = nonEmpty(tsdbFields(generation, "2.54.0"));
  return tsdb === undefined ? {} : { storage: { tsdb } };
}

function nonEmpty(section: Section): Section | undefined {
  return Object.keys(section).length === 0 ? undefined : section;
}

/** Older servers take it from their command line. */
function retentionField(generation: Generation, spec: PrometheusSpec): Section {
  if (!has(generation, "3.11.0")) return {};
  return { retention: { ...field("time", retentionTime(spec)), ...field("size", given(spec.retentionSize)) } };
}

/** `windowSince` is the version that takes samples out of order. */
function tsdbFields(generation: Generation, windowSince: string): Section {
  const { tsdb, enableFeatures = [] } = generation.prometheus.spec;
  const threshold = staleThreshold(tsdb?.staleSeriesCompactionThreshold);
  const floats = tsdb?.chunkEncoding?.floats?.toLowerCase();
  if (floats === "xor" && enableFeatures.includes("st-storage"))
    throw new ConfigurationRefused(
      "spec.tsdb.chunkEncoding.floats",
      "Xor cannot be combined with the feature st-storage, because its chunks store no start timestamps",
    );
  return {
    ...since(generation, windowSince, "out_of_order_time_window", tsdb?.outOfOrderTimeWindow),
    ...since(generation, "3.10.0", "stale_series_compaction_threshold", threshold),
    ...since(generation, "3.13.0", "chunk_encoding", floats === undefined ? undefined : { floats }),
  };
}

function staleThreshold(quantity: string | number | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const value = decimalOf(quantity);
  if (value >= 0 && value <= 1) return value;
  throw new ConfigurationRefused(
    "spec.tsdb.staleSeriesCompactionThreshold",
    `expected a number from 0 to 1, got "${quantity}"`,
  );
}
