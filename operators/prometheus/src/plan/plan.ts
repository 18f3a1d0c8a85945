/** What should be there for a Prometheus; pure. A snapshot goes in, the objects and what to tell come out. */
import { generateConfiguration } from "../generate/configuration.ts";
import type { Version } from "../generate/version.ts";
import { configurationHash } from "../reload/configuration-hash.ts";
import { prometheusRules } from "../rules/rule-format.ts";
import type { Seen } from "../seen/seen.ts";
import { prefixed } from "../workload/names.ts";
import { configurationSecret, ruleObjects, sidecarSecrets, webSecrets } from "../workload/objects.ts";
import { shardStatefulSet } from "../workload/stateful-set.ts";
import type { Plan, PlanSettings, Wanted } from "./outcome.ts";
import { packedRules } from "./packed-rules.ts";
import { planned } from "./planned.ts";
import { configurationMade, type Made, shardsOf, tlsFiles, versionOf } from "./scraping.ts";
import { unreadProblems } from "./unread-problems.ts";

export function plan(seen: Seen, settings: PlanSettings): Plan {
  return planned(seen.prometheus.spec, () => wanted(seen, versionOf(seen.prometheus, settings), settings));
}

function wanted(seen: Seen, version: Version, settings: PlanSettings): Wanted {
  const { prometheus } = seen;
  const rules = packedRules(prefixed(prometheus), prometheusRules(prometheus.spec, version), seen.rules);
  const made = configurationOf(seen, version, rules.configMaps, settings);
  const workload = { version, reloaderImage: settings.image, ruleConfigMaps: rules.configMaps };
  return {
    children: [
      ...(made.text === undefined ? [] : [configurationSecret(prometheus, made.text)]),
      ...webSecrets(prometheus, tlsFiles(seen)),
      ...sidecarSecrets(prometheus),
      ...ruleObjects(prometheus, rules.packs),
      ...shardsOf(prometheus).map((shard) => shardStatefulSet(prometheus, shard, workload)),
    ],
    configuration: made.text,
    hash: made.text === undefined ? undefined : configurationHash(made.text, rules.mounted),
    rejected: [...made.rejected, ...rules.rejected],
    problems: [...unreadProblems(seen), ...made.problems],
  };
}

function configurationOf(
  seen: Seen,
  version: Version,
  ruleConfigMaps: readonly string[],
  settings: PlanSettings,
): Made {
  const { prometheus, assets } = seen;
  const { spec, metadata } = prometheus;
  const secret = (selector: typeof spec.additionalScrapeConfigs): string | undefined =>
    assets.secret(metadata.namespace ?? "", selector);
  return configurationMade(seen, version, settings, (sources) =>
    generateConfiguration({
      ...sources,
      prometheus,
      ruleConfigMaps,
      additionalAlertRelabelConfigs: secret(spec.additionalAlertRelabelConfigs),
      additionalAlertManagerConfigs: secret(spec.additionalAlertManagerConfigs),
    }),
  );
}
