/** The scrape job of one endpoint of a PodMonitor. */
import type { PodEndpoint, PodMonitor } from "../kind/pod-monitor.ts";
import { kubernetesDiscovery, serverSideSelectors } from "./discovery.ts";
import { type Generation, given, type Section, since } from "./generation.ts";
import { authorization, basicAuth, bearerToken, oauth2, proxyConfig, tlsConfig } from "./http-settings.ts";
import { honorFields, requestFields, sampleFields, userRelabelings } from "./monitor-job.ts";
import type { Enforced } from "./namespace-enforcement.ts";
import {
  copyLabel,
  copyUnlessEmpty,
  dropEndedPods,
  keepJobName,
  keepWhere,
  labelPart,
  podLabels,
  selectByLabels,
} from "./relabeling.ts";
import { mergedAuthorization, mergedMetadata, mergedSafeTls, scrapeClassOf } from "./scrape-class.ts";
import { shardingSteps } from "./sharding.ts";

export function podMonitorJob(
  generation: Generation,
  { metadata, spec }: PodMonitor,
  endpoint: PodEndpoint,
  index: number,
): Section {
  const { namespace = "", name = "" } = metadata;
  const scrapeClass = scrapeClassOf(generation, spec.scrapeClass);
  const object: Enforced = { resource: "podmonitors", namespace, name };
  const jobLabel = given(spec.jobLabel);
  return {
    job_name: `podMonitor/${namespace}/${name}/${index}`,
    ...honorFields(generation, endpoint),
    ...kubernetesDiscovery(generation, {
      role: "pod",
      namespace,
      namespaceSelector: spec.namespaceSelector,
      attachMetadata: mergedMetadata(spec.attachMetadata, scrapeClass),
      selectors: serverSideSelectors(spec, ["pod"]),
    }),
    ...requestFields(endpoint),
    ...since(generation, "2.26.0", "follow_redirects", endpoint.followRedirects),
    ...since(generation, "2.35.0", "enable_http2", endpoint.enableHttp2),
    ...tlsConfig(generation, namespace, mergedSafeTls(endpoint.tlsConfig, scrapeClass)),
    ...bearerToken(generation, namespace, endpoint.bearerTokenSecret),
    ...basicAuth(generation, namespace, endpoint.basicAuth),
    ...oauth2(generation, namespace, endpoint.oauth2),
    ...proxyConfig(generation, namespace, endpoint),
    ...authorization(generation, namespace, mergedAuthorization(endpoint.authorization, scrapeClass)),
    relabel_configs: [
      keepJobName,
      ...(endpoint.filterRunning === false ? [] : [dropEndedPods]),
      ...(spec.selectorMechanism === "RoleSelector" ? [] : selectByLabels("pod", spec.selector)),
      ...keepPort(endpoint),
      copyLabel("__meta_kubernetes_namespace", "namespace"),
      copyLabel("__meta_kubernetes_pod_container_name", "container"),
      copyLabel("__meta_kubernetes_pod_name", "pod"),
      ...podLabels(spec.podTargetLabels, generation.prometheus.spec.podTargetLabels),
      { target_label: "job", replacement: `${namespace}/${name}` },
      ...(jobLabel === undefined ? [] : [copyUnlessEmpty(`__meta_kubernetes_pod_label_${labelPart(jobLabel)}`, "job")]),
      ...endpointLabel(endpoint),
      ...userRelabelings(generation, scrapeClass, endpoint, object),
      ...shardingSteps(generation),
    ],
    ...sampleFields(generation, spec, scrapeClass, endpoint, object),
  };
}

function keepPort({ port, portNumber = 0, targetPort }: PodEndpoint): readonly Section[] {
  const byName = (name: string): Section => keepWhere("__meta_kubernetes_pod_container_port_name", name);
  const byNumber = (number: number): Section => keepWhere("__meta_kubernetes_pod_container_port_number", number);
  const name = given(port);
  if (name !== undefined) return [byName(name)];
  if (portNumber !== 0) return [byNumber(portNumber)];
  if (typeof targetPort === "string") return targetPort === "" ? [] : [byName(targetPort)];
  return targetPort === undefined || targetPort === 0 ? [] : [byNumber(targetPort)];
}

function endpointLabel({ port, targetPort }: PodEndpoint): readonly Section[] {
  const name = given(port) ?? given(targetPort === undefined ? undefined : String(targetPort));
  return name === undefined ? [] : [{ target_label: "endpoint", replacement: name }];
}
