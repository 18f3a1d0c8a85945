/** What should be there for a Prometheus; pure. A snapshot goes in, the objects and what to tell come out. */
import { generateConfiguration, configurationText } from "../generate/configuration.ts";
import { ConfigurationRefused, given, type Problem } from "../generate/generation.ts";
import { defaultPrometheusVersion, parseVersion, type Version } from "../generate/version.ts";
import { shardCount } from "../generate/sharding.ts";
import type { AnyPrometheus } from "../kind/prometheus.ts";
import { configurationHash } from "../reload/configuration-hash.ts";
import {
  packRuleFiles,
  renderRule,
  type RuleFile,
  ruleConfigMapName,
  ruleConfigMapNames,
} from "../rules/rule-files.ts";
import { checkKeys } from "../select/check-scrape.ts";
import { keysOfPrometheus } from "../select/prometheus-keys.ts";
import { tlsKeys } from "../select/tls-keys.ts";
import type { Rejected } from "../select/refusal.ts";
import { checkScrapeObjects, clientsOfScrapeObjects } from "../select/scrape-objects.ts";
import { isManaged } from "../select/selection.ts";
import type { Seen } from "../seen/seen.ts";
import type { Plan, PlanSettings, Wanted } from "./outcome.ts";
import { filesOf, planned } from "./planned.ts";
import { unreadProblems } from "./unread-problems.ts";
import { prefixed } from "../workload/names.ts";
import { configurationSecret, rulesConfigMap, webSecrets } from "../workload/objects.ts";
import { shardStatefulSet } from "../workload/stateful-set.ts";

export function plan(seen: Seen, settings: PlanSettings): Plan {
  return planned(seen.prometheus.spec, () => wanted(seen, versionOf(seen.prometheus, settings), settings));
}

/** Throws `ConfigurationRefused` for one that is none. */
export function versionOf({ spec }: AnyPrometheus, { defaultVersion }: PlanSettings): Version {
  const text = given(spec.version) ?? defaultVersion ?? defaultPrometheusVersion;
  const version = parseVersion(text);
  if (version === undefined) throw new ConfigurationRefused("spec.version", `expected a version, got "${text}"`);
  return version;
}

function wanted(seen: Seen, version: Version, settings: PlanSettings): Wanted {
  const { prometheus } = seen;
  const name = prefixed(prometheus);
  const rules = renderRules(seen, version);
  const packs = packRuleFiles(rules.files);
  const ruleConfigMaps = ruleConfigMapNames(name, packs.length);
  const made = configurationOf(seen, version, ruleConfigMaps, settings);
  const shards = Array.from({ length: shardCount({ prometheus }) }, (_, shard) => shard);
  const workload = { version, reloaderImage: settings.image, ruleConfigMaps };
  return {
    children: [
      ...(made.text === undefined ? [] : [configurationSecret(prometheus, made.text)]),
      ...webSecrets(prometheus, tlsFiles(seen)),
      ...packs.map((files, index) => rulesConfigMap(prometheus, index, files)),
      ...shards.map((shard) => shardStatefulSet(prometheus, shard, workload)),
    ],
    configuration: made.text,
    hash: made.text === undefined ? undefined : configurationHash(made.text, mountedRules(name, packs)),
    rejected: [...made.rejected, ...rules.rejected],
    problems: [...unreadProblems(seen), ...made.problems],
  };
}

function mountedRules(name: string, packs: readonly Readonly<Record<string, string>>[]): ReadonlyMap<string, string> {
  const files = packs.flatMap((pack, index) =>
    Object.entries(pack).map(([file, text]) => [`${ruleConfigMapName(name, index)}/${file}`, text] as const),
  );
  return new Map(files);
}

function renderRules(
  { prometheus, rules }: Seen,
  version: Version,
): { readonly files: readonly RuleFile[]; readonly rejected: readonly Rejected[] } {
  const rendered = rules.map((rule) => ({ object: rule, result: renderRule(prometheus, version, rule) }));
  return {
    files: rendered.flatMap(({ result }) => ("file" in result ? [result.file] : [])),
    rejected: rendered.flatMap(({ object, result }) =>
      "refusal" in result ? [{ object, refusal: result.refusal }] : [],
    ),
  };
}

/** A server without a password of its own would lose samples or alerts without a word. */
function refuseMissing({ prometheus, assets }: Seen): void {
  const refusal = checkKeys(assets, keysOfPrometheus(prometheus));
  if (refusal !== undefined) throw new ConfigurationRefused(`spec.${refusal.field}`, refusal.message);
}

interface Made {
  /** Undefined when a user writes the configuration. */
  readonly text: string | undefined;
  readonly rejected: readonly Rejected[];
  readonly problems: readonly Problem[];
}

function configurationOf(
  seen: Seen,
  version: Version,
  ruleConfigMaps: readonly string[],
  { options, defaultVersion = defaultPrometheusVersion }: PlanSettings,
): Made {
  const { prometheus, assets } = seen;
  const { spec, metadata } = prometheus;
  if (!isManaged(spec)) return { text: undefined, rejected: [], problems: [] };
  const { valid, rejected } = checkScrapeObjects({ spec, version, assets }, seen);
  const secret = (selector: typeof spec.additionalScrapeConfigs): string | undefined =>
    assets.secret(metadata.namespace ?? "", selector);
  refuseMissing(seen);
  const { configuration, problems } = generateConfiguration({
    prometheus,
    ...valid,
    assets,
    ruleConfigMaps,
    additionalScrapeConfigs: secret(spec.additionalScrapeConfigs),
    additionalAlertRelabelConfigs: secret(spec.additionalAlertRelabelConfigs),
    additionalAlertManagerConfigs: secret(spec.additionalAlertManagerConfigs),
    options,
    defaultVersion,
  });
  return { text: configurationText(configuration), rejected, problems };
}

/** Of all objects that are selected: a file too many does no harm, one too few breaks a scrape. */
function tlsFiles(seen: Seen): Readonly<Record<string, string>> {
  const keys = tlsKeys(seen.prometheus, clientsOfScrapeObjects(seen));
  return filesOf(seen.assets, keys);
}
