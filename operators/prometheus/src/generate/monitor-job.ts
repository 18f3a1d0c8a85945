/** The parts of a scrape job that ServiceMonitors and PodMonitors share. */
import { decimalOf } from "./decimal.ts";
import type { PodEndpoint, PodMonitor } from "../kind/pod-monitor.ts";
import type { ScrapeClass } from "../kind/prometheus.ts";
import type { ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import { field, filled, type Generation, given, has, report, type Section, since } from "./generation.ts";
import { bodySizeLimit, jobLimits, nativeHistograms } from "./limits.ts";
import { type Enforced, enforcementStep } from "./namespace-enforcement.ts";
import { relabelConfigs } from "./relabeling.ts";

type Endpoint = ServiceEndpoint | PodEndpoint;
type MonitorSpec = ServiceMonitor["spec"] | PodMonitor["spec"];

/** Whose labels and timestamps count. */
export function honorFields(generation: Generation, endpoint: Endpoint): Section {
  const { spec } = generation.prometheus;
  const overridesTimestamps = spec.overrideHonorTimestamps === true;
  const isSilent = endpoint.honorTimestamps === undefined && !overridesTimestamps;
  const timestamps = endpoint.honorTimestamps === true && !overridesTimestamps;
  return {
    honor_labels: endpoint.honorLabels === true && spec.overrideHonorLabels !== true,
    ...since(generation, "2.9.0", "honor_timestamps", isSilent ? undefined : timestamps),
    ...since(generation, "2.48.0", "track_timestamps_staleness", endpoint.trackTimestampsStaleness),
  };
}

/** When and where it is scraped. */
export function requestFields(endpoint: Endpoint): Section {
  return {
    ...field("scrape_interval", given(endpoint.interval)),
    ...field("scrape_timeout", given(endpoint.scrapeTimeout)),
    ...field("metrics_path", given(endpoint.path)),
    ...field("params", endpoint.params),
    ...field("scheme", endpoint.scheme?.toLowerCase()),
  };
}

/** The relabelings of users: of the scrape class, then of the endpoint, then the enforced label. */
export function userRelabelings(
  { prometheus }: Generation,
  scrapeClass: ScrapeClass,
  endpoint: Endpoint,
  object: Enforced,
): readonly Section[] {
  return [
    ...relabelConfigs(scrapeClass.relabelings),
    ...relabelConfigs(endpoint.relabelings),
    ...enforcementStep(prometheus.spec, object),
  ];
}

/** Limits and formats, and what is done to samples; the last fields of a job. */
export function sampleFields(
  generation: Generation,
  spec: MonitorSpec,
  scrapeClass: ScrapeClass,
  endpoint: Endpoint,
  object: Enforced,
): Section {
  const factor = spec.nativeHistogramMinBucketFactor;
  const metricRelabelings = [
    ...relabelConfigs(scrapeClass.metricRelabelings),
    ...relabelConfigs(endpoint.metricRelabelings),
    ...enforcementStep(generation.prometheus.spec, object),
  ];
  const fallback = spec.fallbackScrapeProtocol ?? scrapeClass.fallbackScrapeProtocol;
  return {
    ...jobLimits(generation, spec),
    ...nativeHistograms(generation, {
      ...spec,
      nativeHistogramMinBucketFactor: factor === undefined ? undefined : decimalOf(factor),
    }),
    ...scrapeProtocols(generation, spec.scrapeProtocols),
    ...since(generation, "3.0.0", "fallback_scrape_protocol", fallback),
    ...bodySizeLimit(generation, spec.bodySizeLimit),
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
