/**
 * The configurations that upstream's operator makes of the same objects, compared as data. Each file of
 * `fixtures/` has the objects and what prometheus-operator 0.93.0 made of them; README.md there says how.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { Probe } from "../kind/probe.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import { assetPath, Assets } from "./assets.ts";
import { configurationText, generateConfiguration } from "./configuration.ts";
import { ConfigurationRefused, type GeneratorOptions } from "./generation.ts";

interface Asset {
  readonly kind: "Secret" | "ConfigMap";
  readonly metadata: { readonly namespace: string; readonly name: string };
  /** Of a Secret too, in clear. */
  readonly data: Readonly<Record<string, string>>;
}

interface GoldenCase {
  readonly options?: GeneratorOptions;
  readonly prometheus: Prometheus;
  readonly serviceMonitors?: readonly ServiceMonitor[];
  readonly podMonitors?: readonly PodMonitor[];
  readonly probes?: readonly Probe[];
  readonly assets?: readonly Asset[];
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
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

function assetsOf(objects: readonly Asset[] = []): Assets {
  const values = objects.flatMap(({ kind, metadata, data }) =>
    Object.entries(data).map(([key, value]) => [assetPath({ kind, ...metadata, key }), value] as const),
  );
  return new Assets(new Map(values));
}

/** As the file has it: what Prometheus reads, not what was put in. */
function generated({ assets, ...sources }: GoldenCase): unknown {
  const { configuration } = generateConfiguration({ ...sources, assets: assetsOf(assets) });
  return parse(configurationText(configuration), { version: "1.1" });
}

test("there are cases", () => {
  expect(files.length).toBeGreaterThan(100);
});

test.each(files)("%s", (file) => {
  const given = parse(readFileSync(new URL(file, folder), "utf8"), { version: "1.1" }) as GoldenCase;
  if (given.refused === undefined) expect(generated(given)).toEqual(given.expected);
  else expect(() => generated(given)).toThrow(ConfigurationRefused);
});
