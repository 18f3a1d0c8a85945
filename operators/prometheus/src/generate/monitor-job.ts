/** The frame of a job of one endpoint of a ServiceMonitor or PodMonitor. */
import type { PodEndpoint, PodMonitor } from "../kind/pod-monitor.ts";
import type { ScrapeClass } from "../kind/common-prometheus.ts";
import type { ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import { type Discovery, kubernetesDiscovery } from "./discovery.ts";
import { type Generation, given, type Section, since } from "./generation.ts";
import type { ClientFields } from "./http-settings.ts";
import type { Enforced } from "./namespace-enforcement.ts";
import { mergedMetadata, scrapeClassOf } from "./scrape-class.ts";
import { honorLabels, honorTimestamps, requestFields, scrapeJob, userRelabelings } from "./scrape-job.ts";
import { shardingSteps } from "./sharding.ts";

type Endpoint = ServiceEndpoint | PodEndpoint;

/** What the two kinds do differently. */
export interface MonitorParts {
  readonly resource: Enforced["resource"];
  /** The kind, as the name of the job begins with it. */
  readonly prefix: string;
  readonly index: number;
  readonly discovery: Pick<Discovery, "role" | "metadataSince" | "selectors">;
  /** The TLS of the endpoint and its class. */
  readonly tls: (scrapeClass: ScrapeClass) => ClientFields["tlsConfig"];
  /** What is selected, and the labels that say what it is. */
  readonly targets: readonly Section[];
}

export function monitorJob(
  generation: Generation,
  { metadata, spec }: ServiceMonitor | PodMonitor,
  endpoint: Endpoint,
  { resource, prefix, index, discovery, tls, targets }: MonitorParts,
): Section {
  const { namespace = "", name = "" } = metadata;
  const object: Enforced = { resource, namespace, name };
  const scrapeClass = scrapeClassOf(generation, spec.scrapeClass);
  return scrapeJob(generation, {
    name: `${prefix}/${namespace}/${name}/${index}`,
    object,
    scrapeClass,
    request: { ...honorFields(generation, endpoint), ...requestFields(endpoint) },
    discovery: kubernetesDiscovery(generation, {
      ...discovery,
      namespace,
      namespaceSelector: spec.namespaceSelector,
      attachMetadata: mergedMetadata(spec.attachMetadata, scrapeClass),
    }),
    client: { ...endpoint, tlsConfig: tls(scrapeClass) },
    relabelings: [
      ...targets,
      ...endpointLabel(endpoint),
      ...userRelabelings(generation, scrapeClass, endpoint.relabelings, object),
    ],
    sharding: shardingSteps(generation),
    samples: spec,
    metricRelabelings: endpoint.metricRelabelings,
  });
}

function honorFields(generation: Generation, endpoint: Endpoint): Section {
  return {
    ...honorLabels(generation, endpoint.honorLabels),
    ...honorTimestamps(generation, endpoint.honorTimestamps),
    ...since(generation, "2.48.0", "track_timestamps_staleness", endpoint.trackTimestampsStaleness),
  };
}

/** Which of the ports it is: the name, or the target port. */
function endpointLabel({ port, targetPort }: Endpoint): readonly Section[] {
  const name = given(port) ?? given(targetPort === undefined ? undefined : String(targetPort));
  return name === undefined ? [] : [{ target_label: "endpoint", replacement: name }];
}
