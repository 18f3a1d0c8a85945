/** The sections of the configuration that hold for the whole server: global and runtime. */
import type { PrometheusSpec } from "../kind/prometheus.ts";
import { field, type Generation, given, report, type Section, since, sorted } from "./generation.ts";
import { globalLimits } from "./limits.ts";
import { nameSchemes } from "./name-schemes.ts";
import { scrapeProtocols } from "./scrape-job.ts";

/** Where relative names of log files are. */
const logFolder = "/var/log/prometheus";

export function globalSection(generation: Generation): Section {
  const { spec } = generation.prometheus;
  return {
    scrape_interval: spec.scrapeInterval,
    ...field("scrape_timeout", given(spec.scrapeTimeout)),
    ...scrapeProtocols(generation, spec.scrapeProtocols),
    external_labels: externalLabels(generation),
    ...globalLimits(generation),
    ...since(generation, "2.55.0", "scrape_failure_log_file", logFile(spec.scrapeFailureLogFile)),
    ...nameSchemes(generation, spec),
    ...since(generation, "3.4.0", "convert_classic_histograms_to_nhcb", spec.convertClassicHistogramsToNHCB),
    ...since(generation, "3.5.0", "always_scrape_classic_histograms", spec.scrapeClassicHistograms),
    ...since(generation, "3.8.0", "scrape_native_histograms", spec.scrapeNativeHistograms),
  };
}

/** What only a server has in the global section. */
export function ruleSettings(generation: Generation, spec: PrometheusSpec): Section {
  return {
    evaluation_interval: spec.evaluationInterval,
    ...since(generation, "2.53.0", "rule_query_offset", spec.ruleQueryOffset),
    ...since(generation, "2.16.0", "query_log_file", logFile(given(spec.queryLogFile))),
  };
}

/** A name without a folder is in the volume for logs. */
function logFile(path: string | undefined): string | undefined {
  return path === undefined || path === "" || path.includes("/") ? path : `${logFolder}/${path}`;
}

/** Who the server is; users cannot take these names. */
function externalLabels(generation: Generation): Section {
  const { metadata, spec } = generation.prometheus;
  const own: Record<string, string> = {};
  const name = spec.prometheusExternalLabelName ?? "prometheus";
  if (name !== "") own[name] = `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
  const replica = spec.replicaExternalLabelName ?? "prometheus_replica";
  if (replica !== "") own[replica] = "$(POD_NAME)";
  const zone = zoneLabel(generation);
  if (zone !== "") own[zone] = "$(TOPOLOGY_ZONE)";
  for (const [label, value] of Object.entries(spec.externalLabels ?? {})) {
    if (Object.hasOwn(own, label))
      report(generation, `externalLabels.${label}`, "ignored, because the operator sets this label");
    else own[label] = value;
  }
  return sorted(own) ?? {};
}

function zoneLabel({ prometheus, options }: Generation): string {
  const { mode, topology } = prometheus.spec.shardingStrategy ?? {};
  if (options.topologySharding !== true || mode !== "Topology" || topology === undefined) return "";
  return topology.externalLabelName ?? "zone";
}

export function runtimeSection(generation: Generation): Section {
  const { runtime } = generation.prometheus.spec;
  if (runtime === undefined) return {};
  return since(generation, "2.53.0", "runtime", field("gogc", runtime.goGC));
}
