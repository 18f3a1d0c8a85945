/** What one AlertmanagerConfig adds to a configuration; pure. Throws `ConfigurationRefused` at the field. */
import type { Assets } from "../generate/assets.ts";
import { ConfigurationRefused, type Section } from "../generate/generation.ts";
import type { Version } from "../generate/version.ts";
import type { AlertmanagerConfig, Receiver } from "../kind/alertmanager-config.ts";
import { receiverLists } from "../kind/receiver-table.ts";
import { checkKeys } from "../select/check-scrape.ts";
import { isSection, listOf } from "./base-configuration.ts";
import { checkConfig } from "./check-config.ts";
import { isTlsKey, keysOfConfig } from "./config-keys.ts";
import { convertFields } from "./convert-fields.ts";
import { fitConfiguration } from "./fit-configuration.ts";
import type { Report } from "./fitting.ts";
import type { Place } from "./place.ts";
import { inhibitSection, type Owner, ownerOf, ownName, routeSection, topRoute } from "./routes.ts";
import { intervalSection } from "./time-intervals.ts";

/** Parts of a configuration. */
export interface ObjectSections {
  readonly route?: Section;
  readonly receivers: readonly Section[];
  readonly inhibitRules: readonly Section[];
  readonly intervals: readonly Section[];
}

export interface ObjectSettings {
  readonly assets: Assets;
  readonly version: Version;
  /** The settings of all receivers, of which some lack a field. */
  readonly global: Section;
  /** The namespace whose alerts alone it is for; undefined means all. */
  readonly onlyFrom: string | undefined;
  /** Its route is the root of the configuration. */
  readonly isRoot: boolean;
  readonly report: Report;
}

export function objectSections(object: AlertmanagerConfig, settings: ObjectSettings): ObjectSections {
  const { assets, version, onlyFrom, isRoot, report } = settings;
  const refusal = checkConfig(version, object);
  if (refusal !== undefined) throw new ConfigurationRefused(refusal.field, refusal.message);
  const missing = checkKeys(assets, keysOfConfig(object).filter(isTlsKey));
  if (missing !== undefined) throw new ConfigurationRefused(missing.field, missing.message);
  const { spec, metadata } = object;
  const owner = ownerOf(object, onlyFrom, version);
  const route = spec.route && (isRoot ? routeSection(owner, spec.route) : topRoute(owner, spec.route));
  const place: Place = { namespace: metadata.namespace ?? "", assets, version, path: "spec" };
  const rules = (spec.inhibitRules ?? []).map((rule) => inhibitSection(owner, rule));
  // Without a route, nobody uses its receivers.
  const isUsed = route !== undefined;
  const receivers = (spec.receivers ?? []).map((receiver, index) =>
    receiverSection(owner, receiver, { ...place, path: `spec.receivers[${index}]` }),
  );
  for (const [index, receiver] of receivers.entries())
    checkMail(receiver, settings.global, `spec.receivers[${index}].emailConfigs`);
  const intervals = (spec.muteTimeIntervals ?? []).map((each, index) =>
    intervalSection(ownName(owner, each.name), each, `spec.muteTimeIntervals[${index}]`),
  );
  const fitted = fitConfiguration(
    { version, report },
    {
      ...(route === undefined ? {} : { route }),
      receivers,
      inhibit_rules: rules,
      ...(intervals.length === 0 ? {} : { mute_time_intervals: intervals }),
    },
  );
  const sections = (name: string): readonly Section[] => listOf(fitted[name]).filter(isSection);
  return {
    ...(isSection(fitted["route"]) ? { route: fitted["route"] } : {}),
    receivers: isUsed ? sections("receivers") : [],
    inhibitRules: sections("inhibit_rules"),
    intervals: isUsed ? sections("mute_time_intervals") : [],
  };
}

function receiverSection(owner: Owner, receiver: Receiver, place: Place): Section {
  const lists = receiverLists.flatMap(([name, section, fields]) => {
    const items = (receiver[name] ?? []) as readonly Readonly<Record<string, unknown>>[];
    if (items.length === 0) return [];
    const converted = items.map((item, index) =>
      convertFields({ ...place, path: `${place.path}.${name}[${index}]` }, fields, item),
    );
    return [[section, converted] as const];
  });
  return { name: ownName(owner, receiver.name), ...Object.fromEntries(lists) };
}

/** A mail needs a server and a sender: its own, or those of all. */
function checkMail(receiver: Section, global: Section, path: string): void {
  for (const [index, mail] of listOf(receiver["email_configs"]).entries()) {
    if (!isSection(mail)) continue;
    const has = (own: string, common: string): boolean => mail[own] !== undefined || (global[common] ?? "") !== "";
    if (!has("smarthost", "smtp_smarthost"))
      throw new ConfigurationRefused(`${path}[${index}].smarthost`, "expected it here, or in the global settings");
    if (!has("from", "smtp_from"))
      throw new ConfigurationRefused(`${path}[${index}].from`, "expected it here, or in the global settings");
  }
}
