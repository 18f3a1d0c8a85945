/**
 * The configurations that upstream's operator makes of the same objects, compared as data. Each file of
 * `fixtures/` has the objects and what prometheus-operator 0.93.0 made of them; README.md there says how.
 */
import { expect, test } from "vitest";
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { Probe } from "../kind/probe.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import type { ScrapeConfig } from "../kind/scrape-config.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import { assetsOf, type GoldenAsset, goldenFiles, parseYaml, readGolden } from "../testing/golden-cases.ts";
import { configurationText, generateAgentConfiguration, generateConfiguration } from "./configuration.ts";
import { ConfigurationRefused, type GeneratorOptions } from "./generation.ts";

interface GoldenCase {
  readonly options?: GeneratorOptions;
  readonly prometheus: Prometheus;
  readonly serviceMonitors?: readonly ServiceMonitor[];
  readonly podMonitors?: readonly PodMonitor[];
  readonly probes?: readonly Probe[];
  readonly scrapeConfigs?: readonly ScrapeConfig[];
  readonly assets?: readonly GoldenAsset[];
  /** Of an agent. */
  readonly isPerNode?: boolean;
  readonly ruleConfigMaps?: readonly string[];
  readonly additionalScrapeConfigs?: string;
  readonly additionalAlertRelabelConfigs?: string;
  readonly additionalAlertManagerConfigs?: string;
  /** The configuration. */
  readonly expected?: unknown;
  /** Why there is none, in upstream's words. */
  readonly refused?: string;
}

const folder = new URL("fixtures/", import.meta.url);
const files = goldenFiles(folder);

/** As the file has it: what Prometheus reads, not what was put in. */
function generated({ assets, ...given }: GoldenCase): unknown {
  const sources = { ...given, assets: assetsOf(assets) };
  const isAgent = given.prometheus.kind === "PrometheusAgent";
  const { configuration } = isAgent ? generateAgentConfiguration(sources) : generateConfiguration(sources);
  return parseYaml(configurationText(configuration));
}

test("there are cases", () => {
  expect(files.length).toBeGreaterThan(100);
});

test.each(files)("%s", (file) => {
  const given = readGolden(folder, file) as GoldenCase;
  if (given.refused === undefined) expect(generated(given)).toEqual(given.expected);
  else expect(() => generated(given)).toThrow(ConfigurationRefused);
});
