/** Fits a whole configuration to the version of Alertmanager; pure. Throws `ConfigurationRefused`. */
import { durationMs } from "../generate/durations.ts";
import { ConfigurationRefused, type Section, type Value } from "../generate/generation.ts";
import { isAtLeast } from "../generate/version.ts";
import { isSection, listOf } from "./base-configuration.ts";
import { fitReceiver, fitSection } from "./fit-receivers.ts";
import type { Fitting } from "./fitting.ts";
import { fitTls } from "./fit-http.ts";

export function fitConfiguration(fitting: Fitting, configuration: Section): Section {
  const { global, route, receivers, inhibit_rules: rules } = configuration;
  const each = (list: Value | undefined, fit: (section: Section, index: number) => Section): readonly Value[] =>
    listOf(list).map((item, index) => (isSection(item) ? fit(item, index) : item));
  return {
    ...fitIntervals(fitting, configuration),
    ...(isSection(global) ? { global: fitGlobal(fitting, global) } : {}),
    ...(receivers === undefined
      ? {}
      : { receivers: each(receivers, (item, index) => fitReceiver(fitting, item, `receivers[${index}]`)) }),
    ...(rules === undefined
      ? {}
      : { inhibit_rules: each(rules, (item, index) => fitRule(fitting, item, `inhibit_rules[${index}]`)) }),
    ...(isSection(route) ? { route: fitRoute(fitting, route, "route") } : {}),
  };
}

export function fitGlobal(fitting: Fitting, global: Section): Section {
  const fitted = fitSection(fitting, "global", global, "global");
  const { slack_api_url: url, slack_app_url: app, smtp_tls_config: tls } = fitted;
  const hasToken = fitted["slack_app_token"] !== undefined || fitted["slack_app_token_file"] !== undefined;
  if (hasToken && url !== undefined && app !== undefined && url !== app)
    throw new ConfigurationRefused("global.slack_app_token", "it cannot be combined with another slack_api_url");
  return isSection(tls) ? { ...fitted, smtp_tls_config: fitTls(fitting, tls, "global.smtp_tls_config") } : fitted;
}

export function fitRule({ version }: Fitting, rule: Section, path: string): Section {
  const isNew = listOf(rule["source_matchers"]).length + listOf(rule["target_matchers"]).length > 0;
  if (isNew && !isAtLeast(version, "0.22.0"))
    throw new ConfigurationRefused(path, "matchers need Alertmanager 0.22.0 or newer");
  return rule;
}

/** Intervals of 0 mean nothing. */
export function fitRoute(fitting: Fitting, route: Section, path: string): Section {
  const { version, report } = fitting;
  if (listOf(route["matchers"]).length > 0 && !isAtLeast(version, "0.22.0"))
    throw new ConfigurationRefused(`${path}.matchers`, "they need Alertmanager 0.22.0 or newer");
  const isOff = ([name, value]: readonly [string, Value]): boolean => {
    if (name === "group_wait") checkDuration(value, `${path}.${name}`);
    if (name === "group_interval" || name === "repeat_interval") return checkDuration(value, `${path}.${name}`) === 0;
    const since = { mute_time_intervals: "0.22.0", active_time_intervals: "0.24.0" }[name];
    const isUnknown = since !== undefined && !isAtLeast(version, since);
    if (isUnknown) report(`${path}.${name}`, `ignored, because it needs Alertmanager ${since} or newer`);
    return isUnknown;
  };
  const kept = Object.fromEntries(Object.entries(route).filter((entry) => !isOff(entry)));
  const { routes } = kept;
  if (routes === undefined) return kept;
  const children = listOf(routes).map((child, index) =>
    isSection(child) ? fitRoute(fitting, child, `${path}.routes[${index}]`) : child,
  );
  return { ...kept, routes: children };
}

function checkDuration(value: Value, path: string): number {
  const ms = durationMs(String(value));
  if (ms === undefined) throw new ConfigurationRefused(path, `expected a duration such as 5m, got "${String(value)}"`);
  return ms;
}

/** Sections that the version does not know are left out, and so are zones of time. */
function fitIntervals({ version, report }: Fitting, configuration: Section): Section {
  const sections: Readonly<Record<string, string>> = { mute_time_intervals: "0.22.0", time_intervals: "0.24.0" };
  const fitted = Object.entries(configuration).flatMap(([name, value]): readonly (readonly [string, Value])[] => {
    const since = sections[name];
    if (since === undefined) return [[name, value]];
    if (isAtLeast(version, since))
      return [[name, listOf(value).map((each) => fitInterval({ version, report }, each, name))]];
    if (listOf(value).length > 0) report(name, `ignored, because it needs Alertmanager ${since} or newer`);
    return [];
  });
  return Object.fromEntries(fitted);
}

function fitInterval({ version, report }: Fitting, interval: Value, path: string): Value {
  if (!isSection(interval) || isAtLeast(version, "0.25.0")) return interval;
  const periods = listOf(interval["time_intervals"]).map((period) => {
    if (!isSection(period) || period["location"] === undefined) return period;
    report(`${path}.location`, "ignored, because it needs Alertmanager 0.25.0 or newer");
    const { location: _, ...rest } = period;
    return rest;
  });
  return { ...interval, time_intervals: periods };
}
