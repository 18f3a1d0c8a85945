/** What the plans of a Prometheus and of an agent have in common; pure. */
import {
  configurationText,
  type ConfigurationSources,
  type GeneratedConfiguration,
} from "../generate/configuration.ts";
import { ConfigurationRefused, given, type Problem } from "../generate/generation.ts";
import { shardCount } from "../generate/sharding.ts";
import { defaultPrometheusVersion, parseVersion, type Version } from "../generate/version.ts";
import type { AnyPrometheus } from "../kind/prometheus.ts";
import { checkKeys } from "../select/check-scrape.ts";
import { keysOfPrometheus } from "../select/prometheus-keys.ts";
import type { Rejected } from "../select/refusal.ts";
import { checkScrapeObjects, clientsOfScrapeObjects } from "../select/scrape-objects.ts";
import { isManaged } from "../select/selection.ts";
import { tlsKeys } from "../select/tls-keys.ts";
import type { ScrapingSeen } from "../seen/seen.ts";
import type { PlanSettings } from "./outcome.ts";
import { filesOf } from "./planned.ts";

/** Throws `ConfigurationRefused` for one that is none. */
export function versionOf({ spec }: AnyPrometheus, { defaultVersion }: PlanSettings): Version {
  const text = given(spec.version) ?? defaultVersion ?? defaultPrometheusVersion;
  const version = parseVersion(text);
  if (version === undefined) throw new ConfigurationRefused("spec.version", `expected a version, got "${text}"`);
  return version;
}

/** The numbers of the shards. */
export function shardsOf(prometheus: AnyPrometheus): readonly number[] {
  return Array.from({ length: shardCount({ prometheus }) }, (_, shard) => shard);
}

export interface Made {
  /** Undefined when a user writes the configuration. */
  readonly text: string | undefined;
  readonly rejected: readonly Rejected[];
  readonly problems: readonly Problem[];
}

/** `generate` makes the configuration of the sources that are valid. */
export function configurationMade(
  seen: ScrapingSeen,
  version: Version,
  { options, defaultVersion = defaultPrometheusVersion }: PlanSettings,
  generate: (sources: ConfigurationSources) => GeneratedConfiguration,
): Made {
  const { prometheus, assets } = seen;
  const { spec, metadata } = prometheus;
  if (!isManaged(spec)) return { text: undefined, rejected: [], problems: [] };
  const { valid, rejected } = checkScrapeObjects({ spec, version, assets }, seen);
  refuseMissing(seen);
  const additionalScrapeConfigs = assets.secret(metadata.namespace ?? "", spec.additionalScrapeConfigs);
  const sources = { ...valid, prometheus, assets, additionalScrapeConfigs, options, defaultVersion };
  const { configuration, problems } = generate(sources);
  return { text: configurationText(configuration), rejected, problems };
}

/** A server without a password of its own would lose samples or alerts without a word. */
function refuseMissing({ prometheus, assets }: ScrapingSeen): void {
  const refusal = checkKeys(assets, keysOfPrometheus(prometheus));
  if (refusal !== undefined) throw new ConfigurationRefused(`spec.${refusal.field}`, refusal.message);
}

/** Of all objects that are selected: a file too many does no harm, one too few breaks a scrape. */
export function tlsFiles(seen: ScrapingSeen): Readonly<Record<string, string>> {
  const keys = tlsKeys(seen.prometheus, clientsOfScrapeObjects(seen));
  return filesOf(seen.assets, keys);
}
