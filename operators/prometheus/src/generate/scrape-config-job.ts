/** The scrape job of a ScrapeConfig. */
import type { ScrapeConfig } from "../kind/scrape-config.ts";
import { type Generation, type Section, since } from "./generation.ts";
import { nameSchemes } from "./name-schemes.ts";
import { type Enforced, enforcementStep } from "./namespace-enforcement.ts";
import { relabelConfigs } from "./relabeling.ts";
import { mergedSafeTls, scrapeClassOf } from "./scrape-class.ts";
import { honorLabels, honorTimestamps, requestFields, scrapeJob } from "./scrape-job.ts";
import { hashesItself, shardCount, shardingSteps } from "./sharding.ts";
import { targetDiscovery } from "./target-discovery.ts";

export function scrapeConfigJob(generation: Generation, object: ScrapeConfig): Section {
  const { metadata, spec } = object;
  const { namespace = "", name = "" } = metadata;
  const by: Enforced = { resource: "scrapeconfigs", namespace, name };
  const scrapeClass = scrapeClassOf(generation, spec.scrapeClass);
  const relabelings = [
    ...relabelConfigs(scrapeClass.relabelings),
    ...(spec.jobName === undefined ? [] : [{ target_label: "job", action: "replace", replacement: spec.jobName }]),
    ...ownRelabelings(generation, spec.relabelings ?? [], by),
  ];
  const isWhole = shardCount(generation) === 1 || hashesItself(relabelings);
  return {
    ...scrapeJob(generation, {
      name: `scrapeConfig/${namespace}/${name}`,
      object: by,
      scrapeClass,
      request: requestSection(generation, spec),
      discovery: targetDiscovery(generation, object),
      client: { ...spec, enableHttp2: spec.enableHTTP2, tlsConfig: mergedSafeTls(spec.tlsConfig, scrapeClass) },
      relabelings,
      sharding: isWhole ? [] : shardingSteps(generation),
      samples: spec,
      metricRelabelings: spec.metricRelabelings,
    }),
    ...nameSchemes(generation, spec),
  };
}

/** What is absent is left to Prometheus, whatever the workload overrides. */
function requestSection(generation: Generation, spec: ScrapeConfig["spec"]): Section {
  const { scrapeInterval: interval, scrapeTimeout, metricsPath: path, params, scheme } = spec;
  const hasParams = Object.keys(params ?? {}).length > 0;
  return {
    ...(spec.honorLabels === undefined ? {} : honorLabels(generation, spec.honorLabels)),
    ...(spec.honorTimestamps === undefined ? {} : honorTimestamps(generation, spec.honorTimestamps)),
    ...since(generation, "2.48.0", "track_timestamps_staleness", spec.trackTimestampsStaleness),
    ...requestFields({ interval, scrapeTimeout, path, scheme, params: hasParams ? params : undefined }),
    ...since(generation, "2.49.0", "enable_compression", spec.enableCompression),
  };
}

/** Without steps of its own, the enforced label is put onto the samples alone. */
function ownRelabelings(
  { prometheus }: Generation,
  own: NonNullable<ScrapeConfig["spec"]["relabelings"]>,
  object: Enforced,
): readonly Section[] {
  return own.length === 0 ? [] : [...relabelConfigs(own), ...enforcementStep(prometheus.spec, object)];
}
