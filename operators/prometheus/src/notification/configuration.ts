/**
 * Makes the configuration of an Alertmanager from its objects; pure. Objects go in; a configuration comes
 * out, and the lists of objects and fields that are left out.
 */
import type { Assets } from "../generate/assets.ts";
import { ConfigurationRefused, type Problem, type Section } from "../generate/generation.ts";
import type { Version } from "../generate/version.ts";
import type { Alertmanager } from "../kind/alertmanager.ts";
import type { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import type { Refusal } from "../select/refusal.ts";
import { isSection, listOf, parseBase } from "./base-configuration.ts";
import { fitConfiguration, fitGlobal } from "./fit-configuration.ts";
import type { Report } from "./fitting.ts";
import { globalSection } from "./global-section.ts";
import { objectSections, type ObjectSections } from "./object-sections.ts";

/** Where the templates of `spec.alertmanagerConfiguration` are mounted. */
export const templatesFolder = "/etc/alertmanager/templates";

export interface NotificationSources {
  readonly alertmanager: Alertmanager;
  readonly version: Version;
  /** What the user's Secret has. */
  readonly base: string;
  /** In place of it: the object that `spec.alertmanagerConfiguration` names. */
  readonly root?: AlertmanagerConfig;
  /** Selected, valid or not. */
  readonly configs: readonly AlertmanagerConfig[];
  readonly assets: Assets;
}

export interface NotificationConfiguration<T> {
  readonly configuration: Section;
  readonly problems: readonly Problem[];
  readonly rejected: readonly { readonly object: T; readonly refusal: Refusal }[];
}

/** Throws `ConfigurationRefused` when the Alertmanager itself has a field that forbids any configuration. */
export function generateNotification<T extends AlertmanagerConfig>(
  sources: NotificationSources & { readonly configs: readonly T[] },
): NotificationConfiguration<T> {
  const problems: Problem[] = [];
  const { metadata } = sources.alertmanager;
  const own = reporter(problems, `Alertmanager "${metadata.namespace ?? ""}/${metadata.name ?? ""}"`);
  const base = sources.root === undefined ? fromSecret(sources, own) : fromRoot(sources, sources.root, own);
  const global = isSection(base["global"]) ? base["global"] : {};
  const added: ObjectSections[] = [];
  const rejected: { readonly object: T; readonly refusal: Refusal }[] = [];
  for (const object of byKey(sources.configs)) {
    const { namespace = "", name = "" } = object.metadata;
    const report = reporter(problems, `AlertmanagerConfig "${namespace}/${name}"`);
    const onlyFrom = isFree(sources.alertmanager, namespace) ? undefined : namespace;
    try {
      added.push(objectSections(object, { ...sources, global, onlyFrom, isRoot: false, report }));
    } catch (error) {
      if (!(error instanceof ConfigurationRefused)) throw error;
      rejected.push({ object, refusal: { field: error.field, message: error.message } });
    }
  }
  return { configuration: joined(base, added), problems, rejected };
}

function reporter(problems: Problem[], object: string): Report {
  return (field, message) => problems.push({ object, field, message });
}

function byKey<T extends AlertmanagerConfig>(objects: readonly T[]): readonly T[] {
  const keyOf = ({ metadata }: T): string => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
  return objects.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Whether routes of that namespace are for alerts of all namespaces. */
function isFree({ metadata, spec }: Alertmanager, namespace: string): boolean {
  const strategy = spec.alertmanagerConfigMatcherStrategy?.type ?? "OnNamespace";
  return (
    strategy === "None" ||
    (strategy === "OnNamespaceExceptForAlertmanagerNamespace" && namespace === metadata.namespace)
  );
}

function fromSecret({ base, version }: NotificationSources, report: Report): Section {
  return fitConfiguration({ version, report }, { templates: [], ...parseBase(base) });
}

function fromRoot(sources: NotificationSources, root: AlertmanagerConfig, report: Report): Section {
  const { alertmanager, assets, version } = sources;
  const { global: settings, templates = [] } = alertmanager.spec.alertmanagerConfiguration ?? {};
  const path = "spec.alertmanagerConfiguration.global";
  const place = { namespace: root.metadata.namespace ?? "", assets, version, path };
  const global = settings === undefined ? undefined : globalSection(place, settings);
  const { route, receivers, inhibitRules, intervals } = rootSections(root, {
    ...{ assets, version, report, onlyFrom: undefined, isRoot: true },
    global: global ?? {},
  });
  const files = templates.map(({ configMap, secret }) => `${templatesFolder}/${(configMap ?? secret)?.key ?? ""}`);
  return {
    ...(global === undefined ? {} : { global: fitGlobal({ version, report }, global) }),
    route: route ?? {},
    ...(inhibitRules.length === 0 ? {} : { inhibit_rules: inhibitRules }),
    ...(receivers.length === 0 ? {} : { receivers }),
    ...(intervals.length === 0 ? {} : { mute_time_intervals: intervals }),
    templates: files,
  };
}

/** It is not one of many that may be left out. */
function rootSections(root: AlertmanagerConfig, settings: Parameters<typeof objectSections>[1]): ObjectSections {
  const where = `spec.alertmanagerConfiguration.name: AlertmanagerConfig "${root.metadata.name ?? ""}"`;
  const { route } = root.spec;
  if (route === undefined) throw new ConfigurationRefused(where, "it has no route");
  const forbidden = [
    ["matchers", (route.matchers ?? []).length > 0],
    ["continue", route.continue === true],
    ["muteTimeIntervals", (route.muteTimeIntervals ?? []).length > 0],
    ["activeTimeIntervals", (route.activeTimeIntervals ?? []).length > 0],
  ] as const;
  const found = forbidden.find(([, isThere]) => isThere);
  if (found !== undefined) throw new ConfigurationRefused(where, `spec.route.${found[0]}: a root route cannot have it`);
  try {
    return objectSections(root, settings);
  } catch (error) {
    if (!(error instanceof ConfigurationRefused)) throw error;
    throw new ConfigurationRefused(where, `${error.field}: ${error.message}`);
  }
}

/** Routes of objects come first: all of them continue, so an alert reaches the user's own routes too. */
function joined(base: Section, added: readonly ObjectSections[]): Section {
  const route = isSection(base["route"]) ? base["route"] : {};
  const routes = [
    ...added.flatMap((each) => (each.route === undefined ? [] : [each.route])),
    ...listOf(route["routes"]),
  ];
  const all = (name: string, of: (sections: ObjectSections) => readonly Section[]): Section => {
    const list = [...listOf(base[name]), ...added.flatMap(of)];
    return list.length === 0 ? {} : { [name]: list };
  };
  return {
    ...base,
    route: { ...route, ...(routes.length === 0 ? {} : { routes }) },
    ...all("receivers", ({ receivers }) => receivers),
    ...all("inhibit_rules", ({ inhibitRules }) => inhibitRules),
    ...all("mute_time_intervals", ({ intervals }) => intervals),
  };
}
