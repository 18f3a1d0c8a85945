/**
 * Makes the configuration of a Prometheus from its objects; pure. Objects go in; a configuration and the list
 * of what was left out come out.
 */
import type { KubeObject } from "setpoint";
import { stringify } from "yaml";
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { Probe } from "../kind/probe.ts";
import type { AnyPrometheus, Prometheus } from "../kind/prometheus.ts";
import type { ScrapeConfig } from "../kind/scrape-config.ts";
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
  type Value,
} from "./generation.ts";
import { globalSection, ruleSettings, runtimeSection } from "./global-section.ts";
import { podMonitorJob } from "./pod-monitor-job.ts";
import { probeJob } from "./probe-job.ts";
import { defaultPrometheusVersion, parseVersion } from "./version.ts";
import { remoteReadSection, remoteWriteSection } from "./remote-sections.ts";
import { scrapeConfigJob } from "./scrape-config-job.ts";
import { serviceMonitorJob } from "./service-monitor-job.ts";
import { agentStorageSection, storageSection } from "./storage-section.ts";
import { otlpSection, tracingSection } from "./telemetry-sections.ts";

/** Where the ConfigMaps with rules are mounted, each in a folder of its name. */
export const rulesFolder = "/etc/prometheus/rules";

/** What a configuration is made of. All objects have passed `checkServiceMonitor` and its like. */
export interface ConfigurationSources {
  readonly prometheus: AnyPrometheus;
  readonly serviceMonitors?: readonly ServiceMonitor[];
  readonly podMonitors?: readonly PodMonitor[];
  readonly probes?: readonly Probe[];
  readonly scrapeConfigs?: readonly ScrapeConfig[];
  readonly assets: Assets;
  readonly additionalScrapeConfigs?: string | undefined;
  readonly options?: GeneratorOptions;
  /** For a Prometheus that names none. */
  readonly defaultVersion?: string;
  /** Each pod scrapes the pods of its own node, as those of a DaemonSet do. */
  readonly isPerNode?: boolean;
}

/** What a server has more than an agent. */
export interface ServerSources extends ConfigurationSources {
  readonly prometheus: Prometheus;
  /** The names of the ConfigMaps with rules. */
  readonly ruleConfigMaps?: readonly string[];
  readonly additionalAlertRelabelConfigs?: string | undefined;
  readonly additionalAlertManagerConfigs?: string | undefined;
}

export interface GeneratedConfiguration {
  readonly configuration: Section;
  readonly problems: readonly Problem[];
}

/** Throws `ConfigurationRefused` when the Prometheus itself has a field that forbids any configuration. */
export function generateConfiguration(sources: ServerSources): GeneratedConfiguration {
  const generation = startGeneration(sources);
  const { spec } = sources.prometheus;
  const configuration: Section = {
    global: { ...globalSection(generation), ...ruleSettings(generation, spec) },
    ...runtimeSection(generation),
    ...(spec.ruleSelector === undefined
      ? {}
      : { rule_files: (sources.ruleConfigMaps ?? []).map((name) => `${rulesFolder}/${name}/*.yaml`) }),
    scrape_configs: [
      ...serviceJobs(generation, sources),
      ...podJobs(generation, sources),
      ...otherJobs(generation, sources),
      ...jobsOfUser(generation, sources),
    ],
    ...storageSection(generation, spec),
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

/** An agent scrapes and sends: it has no rules, alerts and queries. Per node, it scrapes pods alone. */
export function generateAgentConfiguration(sources: ConfigurationSources): GeneratedConfiguration {
  const generation = startGeneration(sources);
  const configuration: Section = {
    global: globalSection(generation),
    ...runtimeSection(generation),
    scrape_configs: [
      ...podJobs(generation, sources),
      ...jobsOfUser(generation, sources),
      ...(generation.isPerNode ? [] : [...serviceJobs(generation, sources), ...otherJobs(generation, sources)]),
    ],
    ...agentStorageSection(generation),
    ...remoteWriteSection(generation),
    ...otlpSection(generation),
    ...tracingSection(generation),
  };
  return { configuration, problems: generation.problems };
}

function serviceJobs(generation: Generation, { serviceMonitors }: ConfigurationSources): readonly Section[] {
  return jobsOf(generation, serviceMonitors, (own, monitor) =>
    monitor.spec.endpoints.map((endpoint, index) => serviceMonitorJob(own, monitor, endpoint, index)),
  );
}

function podJobs(generation: Generation, { podMonitors }: ConfigurationSources): readonly Section[] {
  return jobsOf(generation, podMonitors, (own, monitor) =>
    (monitor.spec.podMetricsEndpoints ?? []).map((endpoint, index) => podMonitorJob(own, monitor, endpoint, index)),
  );
}

function otherJobs(generation: Generation, { probes, scrapeConfigs }: ConfigurationSources): readonly Section[] {
  return [
    ...jobsOf(generation, probes, (own, probe) => [probeJob(own, probe)]),
    ...jobsOf(generation, scrapeConfigs, (own, object) => [scrapeConfigJob(own, object)]),
  ];
}

function jobsOfUser(generation: Generation, { additionalScrapeConfigs }: ConfigurationSources): readonly Value[] {
  return additionalJobs(generation, parseList(additionalScrapeConfigs, "spec.additionalScrapeConfigs"));
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
  isPerNode = false,
}: ConfigurationSources): Generation {
  checkTimeout(prometheus);
  const text = given(prometheus.spec.version) ?? defaultVersion;
  const version = parseVersion(text);
  if (version === undefined || (version.major !== 2 && version.major !== 3))
    throw new ConfigurationRefused("spec.version", `expected a version 2 or 3 of Prometheus, got "${text}"`);
  const scrapeClasses = prometheus.spec.scrapeClasses ?? [];
  if (scrapeClasses.filter((each) => each.default === true).length > 1)
    throw new ConfigurationRefused("spec.scrapeClasses", "more than one class is the default one; choose one");
  const { namespace = "", name = "" } = prometheus.metadata;
  const object = `${prometheus.kind} "${namespace}/${name}"`;
  return { prometheus, isPerNode, version, options, assets, scrapeClasses, object, problems: [] };
}

function checkTimeout({ spec }: AnyPrometheus): void {
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
