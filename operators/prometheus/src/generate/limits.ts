/** Limits of scrapes: the lower one of what a user asks for and what the Prometheus enforces. */
import type { CommonPrometheusSpec } from "../kind/common-prometheus.ts";
import type { LimitName, NativeHistograms } from "../kind/scrape-fields.ts";
import { field, type Generation, given, has, type Section, since } from "./generation.ts";

interface Limit {
  readonly name: LimitName;
  readonly key: string;
  /** The version of Prometheus that a job needs for it. */
  readonly since: string;
  /** The version that the global section needs for it. */
  readonly globalSince: string;
}

const limits: readonly Limit[] = [
  { name: "sampleLimit", key: "sample_limit", since: "0.0.0", globalSince: "2.45.0" },
  { name: "targetLimit", key: "target_limit", since: "2.21.0", globalSince: "2.45.0" },
  { name: "labelLimit", key: "label_limit", since: "2.27.0", globalSince: "2.45.0" },
  { name: "labelNameLengthLimit", key: "label_name_length_limit", since: "2.27.0", globalSince: "2.45.0" },
  { name: "labelValueLengthLimit", key: "label_value_length_limit", since: "2.27.0", globalSince: "2.45.0" },
  { name: "keepDroppedTargets", key: "keep_dropped_targets", since: "2.47.0", globalSince: "2.47.0" },
];

type Asked = { readonly [Name in LimitName]?: number | undefined };

function enforcedLimits(spec: CommonPrometheusSpec): Asked {
  return {
    sampleLimit: spec.enforcedSampleLimit,
    targetLimit: spec.enforcedTargetLimit,
    labelLimit: spec.enforcedLabelLimit,
    labelNameLengthLimit: spec.enforcedLabelNameLengthLimit,
    labelValueLengthLimit: spec.enforcedLabelValueLengthLimit,
    keepDroppedTargets: spec.enforcedKeepDroppedTargets,
  };
}

/** The limits of one job. */
export function jobLimits(generation: Generation, asked: Asked): Section {
  const enforced = enforcedLimits(generation.prometheus.spec);
  const parts = limits.map(({ name, key, since: minimum }) =>
    since(generation, minimum, key, lowerLimit(generation, asked[name], enforced[name])),
  );
  return Object.assign({}, ...parts) as Section;
}

/** Where the global section has limits, an enforced one holds without being repeated in each job. */
function lowerLimit(generation: Generation, asked: number | undefined, enforced = 0): number | undefined {
  if (enforced === 0) return asked;
  if (asked === undefined || asked === 0) return has(generation, "2.45.0") ? undefined : enforced;
  return enforced > asked ? asked : enforced;
}

/** The limits of all jobs that set none. */
export function globalLimits(generation: Generation): Section {
  const { spec } = generation.prometheus;
  const enforced = enforcedLimits(spec);
  const parts = limits.map(({ name, key, globalSince }) =>
    since(generation, globalSince, key, globalLimit(spec[name], enforced[name])),
  );
  const bodySize = spec.bodySizeLimit ?? given(spec.enforcedBodySizeLimit);
  return Object.assign(since(generation, "2.45.0", "body_size_limit", bodySize), ...parts) as Section;
}

function globalLimit(asked = 0, enforced = 0): number | undefined {
  if (asked > 0) return enforced > 0 && asked > enforced ? enforced : asked;
  return enforced > 0 ? enforced : undefined;
}

/** The lower limit of the size of a response. */
export function bodySizeLimit(generation: Generation, asked: string | undefined): Section {
  const enforced = given(generation.prometheus.spec.enforcedBodySizeLimit);
  const own = given(asked);
  if (enforced === undefined || own === undefined)
    return since(generation, "2.28.0", "body_size_limit", own ?? enforced);
  const lower = bytesOf(own) > bytesOf(enforced) ? enforced : own;
  return since(generation, "2.28.0", "body_size_limit", lower);
}

const powers: Readonly<Record<string, number>> = { "": 0, K: 1, M: 2, G: 3, T: 4, P: 5, E: 6 };

/** Prometheus takes KB and KiB for the same 1,024 bytes. */
function bytesOf(size: string): number {
  let sum = 0;
  for (const [, amount, unit] of size.matchAll(/(\d+(?:\.\d+)?)([KMGTPE]?)i?B/g))
    sum += Number(amount) * 1024 ** (powers[unit ?? ""] ?? 0);
  return sum;
}

export function nativeHistograms(
  generation: Generation,
  asked: Omit<NativeHistograms, "nativeHistogramMinBucketFactor"> & {
    readonly nativeHistogramMinBucketFactor: number | undefined;
  },
): Section {
  const classic = asked.scrapeClassicHistograms;
  return {
    ...since(generation, "3.8.0", "scrape_native_histograms", asked.scrapeNativeHistograms),
    ...since(generation, "2.45.0", "native_histogram_bucket_limit", asked.nativeHistogramBucketLimit),
    ...since(generation, "2.50.0", "native_histogram_min_bucket_factor", asked.nativeHistogramMinBucketFactor),
    ...(generation.version.major === 3
      ? field("always_scrape_classic_histograms", classic)
      : since(generation, "2.45.0", "scrape_classic_histograms", classic)),
    ...since(generation, "3.0.0", "convert_classic_histograms_to_nhcb", asked.convertClassicHistogramsToNHCB),
  };
}
