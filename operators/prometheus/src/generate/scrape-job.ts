/** The frame of every scrape job, in whichever kind it is stated. */
import type { LimitName, NativeHistograms, Relabeling } from "../kind/scrape-fields.ts";
import type { ScrapeClass } from "../kind/common-prometheus.ts";
import { decimalOf } from "./decimal.ts";
import { field, filled, type Generation, given, has, report, type Section, since } from "./generation.ts";
import { type ClientFields, scrapeClient } from "./http-settings.ts";
import { bodySizeLimit, jobLimits, nativeHistograms } from "./limits.ts";
import { type Enforced, enforcementStep } from "./namespace-enforcement.ts";
import { keepJobName, relabelConfigs } from "./relabeling.ts";
import { mergedAuthorization } from "./scrape-class.ts";

/** The fields of an object that say how one scrape is read. */
export interface SampleSpec extends NativeHistograms, Readonly<Partial<Record<LimitName, number | undefined>>> {
  readonly scrapeProtocols?: readonly string[] | undefined;
  readonly fallbackScrapeProtocol?: string | undefined;
  readonly bodySizeLimit?: string | undefined;
}

/** What a kind puts into the frame. */
export interface JobParts {
  readonly name: string;
  /** Who states the job. */
  readonly object: Enforced;
  readonly scrapeClass: ScrapeClass;
  /** Whose labels and timestamps count, and when and where it is scraped. */
  readonly request: Section;
  /** Where the targets come from. */
  readonly discovery: Section;
  /** Its TLS has that of the class. */
  readonly client: ClientFields;
  /** All between keeping the name of the job and the sharding. */
  readonly relabelings: readonly Section[];
  /** Which targets are of this shard. */
  readonly sharding: readonly Section[];
  readonly samples: SampleSpec;
  readonly metricRelabelings: readonly Relabeling[] | undefined;
}

export function scrapeJob(generation: Generation, parts: JobParts): Section {
  const { object, scrapeClass, client } = parts;
  const authorization = mergedAuthorization(client.authorization, scrapeClass);
  return {
    job_name: parts.name,
    ...parts.request,
    ...parts.discovery,
    ...scrapeClient(generation, object.namespace, { ...client, authorization }),
    relabel_configs: [keepJobName, ...parts.relabelings, ...parts.sharding],
    ...sampleFields(generation, parts),
  };
}

/** Steps of the scrape class, then of the object, then the enforced label. */
export function userRelabelings(
  { prometheus }: Generation,
  { relabelings }: ScrapeClass,
  own: readonly Relabeling[] | undefined,
  object: Enforced,
): readonly Section[] {
  return [...relabelConfigs(relabelings), ...relabelConfigs(own), ...enforcementStep(prometheus.spec, object)];
}

/** When it is scraped, and what is asked. */
export function requestFields(request: {
  readonly interval?: string | undefined;
  readonly scrapeTimeout?: string | undefined;
  readonly path?: string | undefined;
  readonly params?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly scheme?: string | undefined;
}): Section {
  return {
    ...field("scrape_interval", given(request.interval)),
    ...field("scrape_timeout", given(request.scrapeTimeout)),
    ...field("metrics_path", given(request.path)),
    ...field("params", request.params),
    ...field("scheme", request.scheme?.toLowerCase()),
  };
}

/** A Prometheus may keep its own timestamps whatever the object asks for. */
export function honorTimestamps(generation: Generation, asked: boolean | undefined): Section {
  const isOverridden = generation.prometheus.spec.overrideHonorTimestamps === true;
  const isSilent = asked === undefined && !isOverridden;
  return since(generation, "2.9.0", "honor_timestamps", isSilent ? undefined : asked === true && !isOverridden);
}

/** A Prometheus may keep its own labels whatever the object asks for. */
export function honorLabels({ prometheus }: Generation, asked: boolean | undefined): Section {
  return { honor_labels: asked === true && prometheus.spec.overrideHonorLabels !== true };
}

/** Limits and formats, and what is done to samples; the last fields of a job. */
function sampleFields(generation: Generation, { samples, scrapeClass, object, ...parts }: JobParts): Section {
  const factor = samples.nativeHistogramMinBucketFactor;
  const metricRelabelings = [
    ...relabelConfigs(scrapeClass.metricRelabelings),
    ...relabelConfigs(parts.metricRelabelings),
    ...enforcementStep(generation.prometheus.spec, object),
  ];
  const fallback = samples.fallbackScrapeProtocol ?? scrapeClass.fallbackScrapeProtocol;
  return {
    ...jobLimits(generation, samples),
    ...nativeHistograms(generation, {
      ...samples,
      nativeHistogramMinBucketFactor: factor === undefined ? undefined : decimalOf(factor),
    }),
    ...scrapeProtocols(generation, samples.scrapeProtocols),
    ...since(generation, "3.0.0", "fallback_scrape_protocol", fallback),
    ...bodySizeLimit(generation, samples.bodySizeLimit),
    ...field("metric_relabel_configs", filled(metricRelabelings)),
  };
}

/** The first protocol that only Prometheus 3 speaks. */
const newText = "PrometheusText1.0.0";

export function scrapeProtocols(generation: Generation, asked: readonly string[] | undefined): Section {
  if (asked === undefined || asked.length === 0) return {};
  const isNew = has(generation, "3.0.0");
  if (!isNew && asked.includes(newText))
    report(generation, "scrapeProtocols", `${newText} is ignored, because it needs Prometheus 3.0.0 or newer`);
  const protocols = asked.filter((protocol) => isNew || protocol !== newText);
  return since(generation, "2.49.0", "scrape_protocols", protocols);
}
