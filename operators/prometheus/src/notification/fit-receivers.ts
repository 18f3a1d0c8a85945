/** Fits receivers to the version of Alertmanager; pure. Throws `ConfigurationRefused` at the field. */
import { ConfigurationRefused, type Section, type Value } from "../generate/generation.ts";
import { isAtLeast } from "../generate/version.ts";
import { isSection, listOf } from "./base-configuration.ts";
import { fitHttp } from "./fit-http.ts";
import type { Fitting } from "./fitting.ts";
import { isAddress, isTemplate } from "./urls.ts";
import { addresses, atMostOne, fieldsSince, oneOf, receiversSince, winners } from "./version-rules.ts";

export function fitReceiver(fitting: Fitting, receiver: Section, path: string): Section {
  const entries = Object.entries(receiver).map(([name, value]): readonly [string, Value] =>
    name.endsWith("_configs")
      ? [name, listOf(value).map((each, index) => fitIntegration(fitting, name, each, `${path}.${name}[${index}]`))]
      : [name, value],
  );
  return Object.fromEntries(entries);
}

function fitIntegration(fitting: Fitting, name: string, value: Value, path: string): Value {
  if (!isSection(value)) throw new ConfigurationRefused(path, "expected a mapping");
  const since = receiversSince[name];
  if (since !== undefined && !isAtLeast(fitting.version, since))
    throw new ConfigurationRefused(path, `it needs Alertmanager ${since} or newer`);
  const fitted = fitSection(fitting, name, value, path);
  checkFields(fitting, name, fitted, path);
  return (particular[name] ?? keep)(fitting, fitted, path);
}

/** Leaves out what the version does not know, and what another field excludes. */
export function fitSection({ version, report }: Fitting, name: string, section: Section, path: string): Section {
  const known = Object.entries(section).filter(([key]) => {
    const since = fieldsSince[name]?.[key];
    if (since === undefined || isAtLeast(version, since)) return true;
    report(`${path}.${key}`, `ignored, because it needs Alertmanager ${since} or newer`);
    return false;
  });
  const left: Section = Object.fromEntries(known);
  const losers = (winners[name] ?? []).filter(([winner, loser]) => isGiven(left[winner]) && isGiven(left[loser]));
  for (const [winner, loser] of losers) report(`${path}.${loser}`, `ignored, because ${winner} is given too`);
  const fitted = Object.fromEntries(Object.entries(left).filter(([key]) => !losers.some(([, loser]) => loser === key)));
  const http = fitted["http_config"];
  if (!isSection(http)) return fitted;
  return { ...fitted, http_config: fitHttp({ version, report }, http, `${path}.http_config`) };
}

function isGiven(value: Value | undefined): boolean {
  return value !== undefined && value !== null && value !== "" && value !== 0 && value !== false;
}

function checkFields({ version }: Fitting, name: string, section: Section, path: string): void {
  const refuse = (message: string): never => {
    throw new ConfigurationRefused(path, message);
  };
  for (const names of atMostOne[name] ?? [])
    if (names.filter((each) => isGiven(section[each])).length > 1)
      refuse(`expected at most one of ${names.join(", ")}`);
  for (const { names, before } of oneOf[name] ?? []) {
    const isNeeded = before === undefined || !isAtLeast(version, before);
    if (isNeeded && !names.some((each) => isGiven(section[each]))) refuse(`expected ${names.join(" or ")}`);
  }
  const [key, mayBeTemplate] = addresses[name] ?? ["", false];
  const address = section[key];
  if (typeof address !== "string" || address === "") return;
  if (mayBeTemplate && address.includes("{{")) {
    if (!isTemplate(address)) refuse(`${key}: expected a template whose actions all end with }}`);
    return;
  }
  // It may have a password, so it is not quoted.
  if (!isAddress(address)) refuse(`${key}: expected an http or https URL`);
}

type Fit = (fitting: Fitting, section: Section, path: string) => Section;

const keep: Fit = (_, section) => section;

const botUrl = "https://slack.com/api/chat.postMessage";

/** Rules that only one kind of receiver has. */
const particular: Readonly<Record<string, Fit>> = {
  email_configs(_, section, path) {
    const threading = section["threading"];
    const by = isSection(threading) ? threading["thread_by_date"] : "none";
    if (by !== "daily" && by !== "none")
      throw new ConfigurationRefused(`${path}.threading.thread_by_date`, "expected daily or none");
    return section;
  },
  opsgenie_configs({ version }, section, path) {
    const isTeams = listOf(section["responders"]).some((each) => isSection(each) && each["type"] === "teams");
    if (isTeams && !isAtLeast(version, "0.24.0"))
      throw new ConfigurationRefused(`${path}.responders`, "type teams needs Alertmanager 0.24.0 or newer");
    return section;
  },
  pagerduty_configs({ version }, section, path) {
    const details = isSection(section["details"]) ? Object.values(section["details"]) : [];
    if (!isAtLeast(version, "0.30.0") && details.some((value) => typeof value !== "string"))
      throw new ConfigurationRefused(`${path}.details`, "values other than texts need Alertmanager 0.30.0 or newer");
    return section;
  },
  pushover_configs({ version, report }, section, path) {
    const isOld = section["monospace"] === true && !isAtLeast(version, "0.29.0");
    if (isOld) report(`${path}.monospace`, "ignored, because it needs Alertmanager 0.29.0 or newer");
    const fitted = isOld ? { ...section, monospace: false } : section;
    if (fitted["html"] === true && fitted["monospace"] === true)
      throw new ConfigurationRefused(`${path}.monospace`, "it cannot be combined with html; use one of them");
    return fitted;
  },
  slack_configs(_, section, path) {
    const { api_url: url, api_url_file: file, app_token: token, app_token_file: tokenFile } = section;
    if (section["update_message"] === true && isGiven(url) && url !== botUrl)
      throw new ConfigurationRefused(`${path}.update_message`, `it needs a bot: api_url must be ${botUrl}`);
    if ((isGiven(token) || isGiven(tokenFile)) && (isGiven(url) || isGiven(file)))
      throw new ConfigurationRefused(`${path}.app_token`, "it cannot be combined with api_url; use one of them");
    return section;
  },
  sns_configs({ version, report }, section, path) {
    const { sigv4 } = section;
    if (!isSection(sigv4) || !isGiven(sigv4["external_id"])) return section;
    if (!isGiven(sigv4["role_arn"])) throw new ConfigurationRefused(`${path}.sigv4.external_id`, "it needs role_arn");
    if (isAtLeast(version, "0.33.0")) return section;
    report(`${path}.sigv4.external_id`, "ignored, because it needs Alertmanager 0.33.0 or newer");
    const { external_id: _, ...rest } = sigv4;
    return { ...section, sigv4: rest };
  },
  jira_configs(_, section, path) {
    const type = section["api_type"];
    if (isGiven(type) && type !== "auto" && type !== "cloud" && type !== "datacenter")
      throw new ConfigurationRefused(`${path}.api_type`, "expected auto, cloud or datacenter");
    return section;
  },
  incidentio_configs(_, section, path) {
    const http = section["http_config"];
    const isAuthorized = isSection(http) && isSection(http["authorization"]);
    const hasToken = isGiven(section["alert_source_token"]) || isGiven(section["alert_source_token_file"]);
    if (isAuthorized === hasToken)
      throw new ConfigurationRefused(path, "expected either alert_source_token or http_config.authorization");
    return section;
  },
};
