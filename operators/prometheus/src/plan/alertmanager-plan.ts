/** What should be there for an Alertmanager; pure. A snapshot goes in, objects and what to tell come out. */
import { configurationText } from "../generate/configuration.ts";
import { ConfigurationRefused, given, type Problem } from "../generate/generation.ts";
import { defaultAlertmanagerVersion, parseVersion, type Version } from "../generate/version.ts";
import { alertmanagerSpec } from "../kind/alertmanager.ts";
import { alertmanagerConfigSpec } from "../kind/alertmanager-config.ts";
import { defaultConfiguration, parseBase } from "../notification/base-configuration.ts";
import { isGenerated } from "../notification/choose-configs.ts";
import { isTlsKey, keysOfConfig, keysOfGlobal } from "../notification/config-keys.ts";
import { generateNotification } from "../notification/configuration.ts";
import { configurationHash } from "../reload/configuration-hash.ts";
import { checkKeys } from "../select/check-scrape.ts";
import type { Rejected } from "../select/refusal.ts";
import type { AlertmanagerSeen } from "../seen/alertmanager-seen.ts";
import { generatedSecret, receiverTlsSecret, webSecrets } from "../workload/alertmanager-objects.ts";
import { alertmanagerStatefulSet } from "../workload/alertmanager-stateful-set.ts";
import type { Plan, PlanSettings, Wanted } from "./outcome.ts";
import { filesOf, planned } from "./planned.ts";
import { unreadProblemsOf } from "./unread-problems.ts";

export function planAlertmanager(seen: AlertmanagerSeen, settings: PlanSettings): Plan {
  const { spec } = seen.alertmanager;
  const text = given(spec.version) ?? settings.defaultAlertmanagerVersion ?? defaultAlertmanagerVersion;
  return planned(spec, () => wanted(seen, supported(text), settings));
}

function supported(text: string): Version {
  const version = parseVersion(text);
  if (version === undefined || version.major !== 0 || version.minor < 15)
    throw new ConfigurationRefused("spec.version", `expected a version of Alertmanager from 0.15 on, got "${text}"`);
  return version;
}

function wanted(seen: AlertmanagerSeen, version: Version, settings: PlanSettings): Wanted {
  const { alertmanager, base } = seen;
  const { text: configuration, rejected, problems } = configurationOf(seen, version);
  return {
    children: [
      generatedSecret(alertmanager, configuration, base.files),
      receiverTlsSecret(alertmanager, tlsFiles(seen)),
      ...webSecrets(alertmanager),
      alertmanagerStatefulSet(alertmanager, { version, reloaderImage: settings.image }),
    ],
    configuration,
    hash: configurationHash(configuration, new Map()),
    rejected,
    problems: [...unreadIn(seen), ...problems],
  };
}

interface Made {
  readonly text: string;
  readonly rejected: readonly Rejected[];
  readonly problems: readonly Problem[];
}

function configurationOf(seen: AlertmanagerSeen, version: Version): Made {
  const { alertmanager, root, configs, assets } = seen;
  const base = given(seen.base.configuration) ?? defaultConfiguration;
  if (!isGenerated(alertmanager)) {
    parseBase(base);
    return { text: base, rejected: [], problems: [] };
  }
  const { alertmanagerConfiguration: named } = alertmanager.spec;
  if (named !== undefined && root === undefined)
    throw new ConfigurationRefused(
      "spec.alertmanagerConfiguration.name",
      `AlertmanagerConfig "${named.name ?? ""}" does not exist in the namespace; create it`,
    );
  const missing = checkKeys(assets, keysOfGlobal(alertmanager));
  if (missing !== undefined) throw new ConfigurationRefused(missing.field, missing.message);
  const made = generateNotification({
    ...{ alertmanager, version, base, configs, assets },
    ...(root === undefined ? {} : { root }),
  });
  return { text: configurationText(made.configuration), rejected: made.rejected, problems: made.problems };
}

/** Of all objects that are selected: a file too many does no harm. */
function tlsFiles({ alertmanager, root, configs, assets }: AlertmanagerSeen): Readonly<Record<string, string>> {
  const objects = root === undefined ? configs : [root, ...configs];
  const keys = [...keysOfGlobal(alertmanager), ...objects.flatMap(keysOfConfig)].filter(isTlsKey);
  return filesOf(
    assets,
    keys.map(({ asset }) => asset),
  );
}

function unreadIn({ alertmanager, root, configs }: AlertmanagerSeen): readonly Problem[] {
  return [
    ...unreadProblemsOf(alertmanagerSpec, [alertmanager]),
    ...unreadProblemsOf(alertmanagerConfigSpec, root === undefined ? configs : [root, ...configs]),
  ];
}
