/** Whether a monitor can be part of a configuration; one that cannot is left out, and the others stay. */
import { isAtLeast } from "../generate/version.ts";
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import type { HttpFields } from "./check-http.ts";
import { checkRelabelings } from "./check-relabelings.ts";
import { checkClient, type CheckedBy, checkScrapeClass, checkTimeout } from "./check-scrape.ts";
import { checkSelector } from "./check-selector.ts";
import { firstRefusal, refuse, type Refusal, within } from "./refusal.ts";

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

function checkCommon(by: CheckedBy, spec: ServiceMonitor["spec"] | PodMonitor["spec"]): Refusal | undefined {
  const { selector, selectorMechanism, scrapeClass } = spec;
  const isTooOld = selectorMechanism === "RoleSelector" && !isAtLeast(by.version, "2.17.0");
  return firstRefusal([
    within("spec", checkSelector(selector)),
    isTooOld ? refuse("spec.selectorMechanism", "RoleSelector needs Prometheus 2.17.0 or newer") : undefined,
    checkScrapeClass(by, scrapeClass),
  ]);
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
    checkClient(by, namespace, endpoint),
    checkTimeout(by, endpoint),
    checkRelabelings(by.version, "relabelings", endpoint.relabelings),
    checkRelabelings(by.version, "metricRelabelings", endpoint.metricRelabelings),
  ]);
}
