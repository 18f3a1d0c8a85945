/**
 * Makes the configuration of a Prometheus from its objects; pure. Objects go in; a configuration and the list
 * of what was left out come out.
 */
import type { KubeObject } from "setpoint";
import { stringify } from "yaml";
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { Probe } from "../kind/probe.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import { additionalJobs, parseList } from "./additional-jobs.ts";
import { alertingSection } from "./alerting-section.ts";
import type { Assets } from "./assets.ts";
import { durationMs } from "./durations.ts";
import {
  ConfigurationRefused,
  type Generation,
  type GeneratorOptions,
  given,
  type Problem,
  type Section,
} from "./generation.ts";
import { globalSection, runtimeSection, storageSection } from "./global-section.ts";
import { podMonitorJob } from "./pod-monitor-job.ts";
import { probeJob } from "./probe-job.ts";
import { defaultPrometheusVersion, parseVersion } from "./version.ts";
import { remoteReadSection, remoteWriteSection } from "./remote-sections.ts";
import { serviceMonitorJob } from "./service-monitor-job.ts";
import { otlpSection, tracingSection } from "./telemetry-sections.ts";

/** Where the ConfigMaps with rules are mounted, each in a folder of its name. */
export const rulesFolder = "/etc/prometheus/rules";

/** What a configuration is made of. All objects have passed `checkServiceMonitor` and its like. */
export interface ConfigurationSources {
  readonly prometheus: Prometheus;
  readonly serviceMonitors?: readonly ServiceMonitor[];
  readonly podMonitors?: readonly PodMonitor[];
  readonly probes?: readonly Probe[];
  readonly assets: Assets;
  /** The names of the ConfigMaps with rules. */
  readonly ruleConfigMaps?: readonly string[];
  readonly additionalScrapeConfigs?: string | undefined;
  readonly additionalAlertRelabelConfigs?: string | undefined;
  readonly additionalAlertManagerConfigs?: string | undefined;
  readonly options?: GeneratorOptions;
  /** For a Prometheus that names none. */
  readonly defaultVersion?: string;
}

export interface GeneratedConfiguration {
  readonly configuration: Section;
  readonly problems: readonly Problem[];
}

/** Throws `ConfigurationRefused` when the Prometheus itself has a field that forbids any configuration. */
export function generateConfiguration(sources: ConfigurationSources): GeneratedConfiguration {
  const generation = startGeneration(sources);
  const { spec } = generation.prometheus;
  checkTimeout(generation.prometheus);
  const configuration: Section = {
    global: globalSection(generation),
    ...runtimeSection(generation),
    ...(spec.ruleSelector === undefined
      ? {}
      : { rule_files: (sources.ruleConfigMaps ?? []).map((name) => `${rulesFolder}/${name}/*.yaml`) }),
    scrape_configs: [
      ...jobsOf(generation, sources.serviceMonitors, (own, monitor) =>
        monitor.spec.endpoints.map((endpoint, index) => serviceMonitorJob(own, monitor, endpoint, index)),
      ),
      ...jobsOf(generation, sources.podMonitors, (own, monitor) =>
        (monitor.spec.podMetricsEndpoints ?? []).map((endpoint, index) => podMonitorJob(own, monitor, endpoint, index)),
      ),
      ...jobsOf(generation, sources.probes, (own, probe) => [probeJob(own, probe)]),
      ...additionalJobs(generation, parseList(sources.additionalScrapeConfigs, "spec.additionalScrapeConfigs")),
    ],
    ...storageSection(generation),
    ...alertingSection(generation, {
      relabelConfigs: parseList(sources.additionalAlertRelabelConfigs, "spec.additionalAlertRelabelConfigs"),
      alertmanagers: parseList(sources.additionalAlertManagerConfigs, "spec.additionalAlertManagerConfigs"),
    }),
    ...remoteWriteSection(generation),
    ...remoteReadSection(generation),
    ...otlpSection(generation),
    ...tracingSection(generation),
  };
  return { configuration, problems: generation.problems };
}

/** As the file that Prometheus reads: it takes `yes` and `1_000` for more than texts, as YAML 1.1 does. */
export function configurationText(configuration: Section): string {
  return stringify(configuration, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}

function startGeneration({
  prometheus,
  assets,
  options = {},
  defaultVersion = defaultPrometheusVersion,
}: ConfigurationSources): Generation {
  const text = given(prometheus.spec.version) ?? defaultVersion;
  const version = parseVersion(text);
  if (version === undefined || (version.major !== 2 && version.major !== 3))
    throw new ConfigurationRefused("spec.version", `expected a version 2 or 3 of Prometheus, got "${text}"`);
  const scrapeClasses = prometheus.spec.scrapeClasses ?? [];
  if (scrapeClasses.filter((each) => each.default === true).length > 1)
    throw new ConfigurationRefused("spec.scrapeClasses", "more than one class is the default one; choose one");
  const { namespace = "", name = "" } = prometheus.metadata;
  const object = `Prometheus "${namespace}/${name}"`;
  return { prometheus, version, options, assets, scrapeClasses, object, problems: [] };
}

function checkTimeout({ spec }: Prometheus): void {
  const timeout = given(spec.scrapeTimeout);
  if (timeout === undefined) return;
  const timeoutMs = durationMs(timeout);
  const intervalMs = durationMs(spec.scrapeInterval);
  if (timeoutMs !== undefined && intervalMs !== undefined && timeoutMs <= intervalMs) return;
  throw new ConfigurationRefused(
    "spec.scrapeTimeout",
    `expected a duration of at most scrapeInterval "${spec.scrapeInterval}", got "${timeout}"`,
  );
}

/** Of all objects of one kind, in the order of their names. */
function jobsOf<T extends KubeObject>(
  generation: Generation,
  objects: readonly T[] | undefined,
  jobs: (own: Generation, object: T) => readonly Section[],
): readonly Section[] {
  const keyOf = ({ metadata }: T): string => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
  const ordered = (objects ?? []).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return ordered.flatMap((object) => jobs({ ...generation, object: `${object.kind} "${keyOf(object)}"` }, object));
}
