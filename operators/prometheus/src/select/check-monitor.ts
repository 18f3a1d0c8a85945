/** Whether a monitor can be part of a configuration; one that cannot is left out, and the others stay. */
import { labelSelectorOf } from "setpoint/kinds";
import type { AssetKey, Assets } from "../generate/assets.ts";
import { durationMs } from "../generate/durations.ts";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { PrometheusSpec } from "../kind/prometheus.ts";
import type { ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import { checkHttp, type HttpFields, keysOf, type NamedKey } from "./check-http.ts";
import { checkRelabelings } from "./check-relabelings.ts";
import { firstRefusal, refuse, type Refusal, within } from "./refusal.ts";

/** What a check needs to know of the Prometheus. */
export interface CheckedBy {
  readonly spec: PrometheusSpec;
  readonly version: Version;
  readonly assets: Assets;
}

type Endpoint = HttpFields & Pick<ServiceEndpoint, "interval" | "scrapeTimeout" | "relabelings" | "metricRelabelings">;

export function checkServiceMonitor(by: CheckedBy, monitor: ServiceMonitor): Refusal | undefined {
  const denies = by.spec.arbitraryFSAccessThroughSMs?.deny === true;
  const { endpoints } = monitor.spec;
  return firstRefusal([
    checkCommon(by, monitor.spec),
    ...endpoints.map((endpoint, index) =>
      within(
        `spec.endpoints[${index}]`,
        (denies ? checkFiles(endpoint) : undefined) ?? checkEndpoint(by, monitor.metadata.namespace ?? "", endpoint),
      ),
    ),
  ]);
}

export function checkPodMonitor(by: CheckedBy, monitor: PodMonitor): Refusal | undefined {
  const endpoints = monitor.spec.podMetricsEndpoints ?? [];
  return firstRefusal([
    checkCommon(by, monitor.spec),
    ...endpoints.map((endpoint, index) =>
      within(`spec.podMetricsEndpoints[${index}]`, checkEndpoint(by, monitor.metadata.namespace ?? "", endpoint)),
    ),
  ]);
}

/** The keys of Secrets and ConfigMaps that the endpoints of a monitor name. */
export function monitorKeys(monitor: ServiceMonitor | PodMonitor): readonly AssetKey[] {
  const { metadata, spec } = monitor;
  const endpoints: readonly HttpFields[] = "endpoints" in spec ? spec.endpoints : (spec.podMetricsEndpoints ?? []);
  return endpoints.flatMap((endpoint) => keysOf(metadata.namespace ?? "", endpoint)).map(({ asset }) => asset);
}

function checkCommon(
  { spec: own, version }: CheckedBy,
  spec: ServiceMonitor["spec"] | PodMonitor["spec"],
): Refusal | undefined {
  const { selector, selectorMechanism, scrapeClass = "" } = spec;
  try {
    labelSelectorOf(selector);
  } catch (error) {
    return refuse("spec.selector", `it is not valid: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (selectorMechanism === "RoleSelector" && !isAtLeast(version, "2.17.0"))
    return refuse("spec.selectorMechanism", "RoleSelector needs Prometheus 2.17.0 or newer");
  const isKnown = scrapeClass === "" || (own.scrapeClasses ?? []).some(({ name }) => name === scrapeClass);
  return isKnown ? undefined : refuse("spec.scrapeClass", `the Prometheus has no scrape class "${scrapeClass}"`);
}

/** A Prometheus may forbid monitors to name files of its pod. */
function checkFiles({ bearerTokenFile = "", tlsConfig }: ServiceEndpoint): Refusal | undefined {
  const forbidden = "it names a file of the Prometheus pod, which spec.arbitraryFSAccessThroughSMs forbids";
  if (bearerTokenFile !== "") return refuse("bearerTokenFile", forbidden);
  const files = ["caFile", "certFile", "keyFile"] as const;
  const file = files.find((name) => (tlsConfig?.[name] ?? "") !== "");
  return file && refuse(`tlsConfig.${file}`, forbidden);
}

function checkEndpoint(by: CheckedBy, namespace: string, endpoint: Endpoint): Refusal | undefined {
  return firstRefusal([
    checkHttp(endpoint),
    checkKeys(by.assets, keysOf(namespace, endpoint)),
    checkTimeout(by.spec, endpoint),
    checkRelabelings(by.version, "relabelings", endpoint.relabelings),
    checkRelabelings(by.version, "metricRelabelings", endpoint.metricRelabelings),
  ]);
}

export function checkKeys(assets: Assets, keys: readonly NamedKey[]): Refusal | undefined {
  const missing = keys.find(({ asset, isOptional }) => !isOptional && !assets.has(asset));
  if (missing === undefined) return undefined;
  const { kind, namespace, name, key } = missing.asset;
  return refuse(missing.field, `key "${key}" of ${kind} "${namespace}/${name}" does not exist; create it`);
}

function checkTimeout(spec: PrometheusSpec, { interval = "", scrapeTimeout = "" }: Endpoint): Refusal | undefined {
  if (scrapeTimeout === "") return undefined;
  const longest = interval === "" ? spec.scrapeInterval : interval;
  const timeoutMs = durationMs(scrapeTimeout);
  const longestMs = durationMs(longest);
  if (timeoutMs === undefined)
    return refuse("scrapeTimeout", `expected a duration such as 10s, got "${scrapeTimeout}"`);
  if (longestMs === undefined) return refuse("interval", `expected a duration such as 30s, got "${longest}"`);
  return timeoutMs > longestMs
    ? refuse("scrapeTimeout", `expected at most the interval "${longest}", got "${scrapeTimeout}"`)
    : undefined;
}
