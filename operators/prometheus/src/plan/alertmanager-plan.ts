/** What should be there for an Alertmanager; pure. A snapshot goes in, objects and what to tell come out. */
import { ConfigurationRefused, given } from "../generate/generation.ts";
import { defaultAlertmanagerVersion, parseVersion, type Version } from "../generate/version.ts";
import { alertmanagerSpec } from "../kind/alertmanager.ts";
import { unreadFields } from "../kind/unread-fields.ts";
import { defaultConfiguration, parseBase } from "../notification/base-configuration.ts";
import { configurationHash } from "../reload/configuration-hash.ts";
import type { AlertmanagerSeen } from "../seen/alertmanager-seen.ts";
import { generatedSecret, receiverTlsSecret, webSecrets } from "../workload/alertmanager-objects.ts";
import { alertmanagerStatefulSet } from "../workload/alertmanager-stateful-set.ts";
import type { Plan, PlanSettings, Wanted } from "./outcome.ts";
import { unreadMessage } from "./unread-problems.ts";

export function planAlertmanager(seen: AlertmanagerSeen, settings: PlanSettings): Plan {
  const { spec } = seen.alertmanager;
  if (spec.paused === true) return { kind: "paused" };
  try {
    const text = given(spec.version) ?? settings.defaultAlertmanagerVersion ?? defaultAlertmanagerVersion;
    return { kind: "apply", ...wanted(seen, supported(text), settings) };
  } catch (error) {
    if (!(error instanceof ConfigurationRefused)) throw error;
    return { kind: "refused", refusal: { field: error.field, message: error.message } };
  }
}

function supported(text: string): Version {
  const version = parseVersion(text);
  if (version === undefined || version.major !== 0 || version.minor < 15)
    throw new ConfigurationRefused("spec.version", `expected a version of Alertmanager from 0.15 on, got "${text}"`);
  return version;
}

function wanted(seen: AlertmanagerSeen, version: Version, settings: PlanSettings): Wanted {
  const { alertmanager, base } = seen;
  const { name, namespace } = alertmanager.metadata;
  const configuration = given(base.configuration) ?? defaultConfiguration;
  parseBase(configuration);
  const object = `Alertmanager "${namespace}/${name}"`;
  return {
    children: [
      generatedSecret(alertmanager, configuration, base.files),
      receiverTlsSecret(alertmanager, {}),
      ...webSecrets(alertmanager),
      alertmanagerStatefulSet(alertmanager, { version, reloaderImage: settings.image }),
    ],
    configuration,
    hash: configurationHash(configuration, new Map()),
    rejected: [],
    problems: unreadFields(alertmanagerSpec, alertmanager.spec, "spec").map((field) => ({
      object,
      field,
      message: unreadMessage,
    })),
  };
}
