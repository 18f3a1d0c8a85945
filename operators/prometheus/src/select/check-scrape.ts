/** Checks that all objects that state scrapes have in common. */
import type { Assets } from "../generate/assets.ts";
import { durationMs } from "../generate/durations.ts";
import type { Version } from "../generate/version.ts";
import type { CommonPrometheusSpec } from "../kind/common-prometheus.ts";
import { checkHttp, keysOf, type HttpFields, type NamedKey } from "./check-http.ts";
import { firstRefusal, refuse, type Refusal } from "./refusal.ts";

/** What a check needs to know of the Prometheus. */
export interface CheckedBy {
  readonly spec: CommonPrometheusSpec;
  readonly version: Version;
  readonly assets: Assets;
}

/** A client contradicts itself, or names keys that do not exist. */
export function checkClient(by: CheckedBy, namespace: string, client: HttpFields): Refusal | undefined {
  return checkHttp(client) ?? checkKeys(by.assets, keysOf(namespace, client));
}

export function checkKeys(assets: Assets, keys: readonly NamedKey[]): Refusal | undefined {
  const missing = keys.find(({ asset, isOptional }) => !isOptional && !assets.has(asset));
  if (missing === undefined) return undefined;
  const { kind, namespace, name, key } = missing.asset;
  return refuse(missing.field, `key "${key}" of ${kind} "${namespace}/${name}" does not exist; create it`);
}

export function checkScrapeClass({ spec }: CheckedBy, scrapeClass = ""): Refusal | undefined {
  const isKnown = scrapeClass === "" || (spec.scrapeClasses ?? []).some(({ name }) => name === scrapeClass);
  return isKnown ? undefined : refuse("spec.scrapeClass", `the Prometheus has no scrape class "${scrapeClass}"`);
}

/** When an object is scraped; `intervalField` is how its kind calls the interval. */
export interface Timing {
  readonly interval?: string | undefined;
  readonly scrapeTimeout?: string | undefined;
  readonly intervalField?: string;
}

export function checkTimeout(
  { spec }: CheckedBy,
  { interval = "", scrapeTimeout = "", intervalField = "interval" }: Timing,
): Refusal | undefined {
  if (scrapeTimeout === "") return undefined;
  const longest = interval === "" ? spec.scrapeInterval : interval;
  const timeoutMs = durationMs(scrapeTimeout);
  const longestMs = durationMs(longest);
  if (timeoutMs === undefined)
    return refuse("scrapeTimeout", `expected a duration such as 10s, got "${scrapeTimeout}"`);
  if (longestMs === undefined) return refuse(intervalField, `expected a duration such as 30s, got "${longest}"`);
  return timeoutMs > longestMs
    ? refuse("scrapeTimeout", `expected at most the interval "${longest}", got "${scrapeTimeout}"`)
    : undefined;
}

const legacyName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Prometheus 3 takes any name. */
export function isLabelName(version: Version, name: string): boolean {
  return version.major < 3 ? legacyName.test(name) : name !== "";
}

export function checkLabels(
  { version }: CheckedBy,
  labels: Readonly<Record<string, string>> | undefined,
): Refusal | undefined {
  const names = Object.keys(labels ?? {}).toSorted();
  return firstRefusal(
    names.map((name) =>
      isLabelName(version, name) ? undefined : refuse("labels", `expected the name of a label, got "${name}"`),
    ),
  );
}
