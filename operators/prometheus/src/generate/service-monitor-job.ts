/** The scrape job of one endpoint of a ServiceMonitor. */
import type { ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import { endpointsRole, kubernetesDiscovery, serverSideSelectors } from "./discovery.ts";
import { field, type Generation, given, type Section, since } from "./generation.ts";
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
import { mergedAuthorization, mergedMetadata, mergedTls, scrapeClassOf } from "./scrape-class.ts";
import { shardingSteps } from "./sharding.ts";

export function serviceMonitorJob(
  generation: Generation,
  { metadata, spec }: ServiceMonitor,
  endpoint: ServiceEndpoint,
  index: number,
): Section {
  const { namespace = "", name = "" } = metadata;
  const scrapeClass = scrapeClassOf(generation, spec.scrapeClass);
  const role = endpointsRole(generation, spec.serviceDiscoveryRole);
  const object: Enforced = { resource: "servicemonitors", namespace, name };
  return {
    job_name: `serviceMonitor/${namespace}/${name}/${index}`,
    ...honorFields(generation, endpoint),
    ...kubernetesDiscovery(generation, {
      role,
      namespace,
      namespaceSelector: spec.namespaceSelector,
      attachMetadata: mergedMetadata(spec.attachMetadata, scrapeClass),
      metadataSince: "2.37.0",
      selectors: serverSideSelectors(spec, [role, "service"]),
    }),
    ...requestFields(endpoint),
    ...since(generation, "2.26.0", "follow_redirects", endpoint.followRedirects),
    ...since(generation, "2.35.0", "enable_http2", endpoint.enableHttp2),
    ...proxyConfig(generation, namespace, endpoint),
    ...oauth2(generation, namespace, endpoint.oauth2),
    ...tlsConfig(generation, namespace, mergedTls(endpoint.tlsConfig, scrapeClass)),
    ...field("bearer_token_file", given(endpoint.bearerTokenFile)),
    ...bearerToken(generation, namespace, endpoint.bearerTokenSecret),
    ...basicAuth(generation, namespace, endpoint.basicAuth),
    ...authorization(generation, namespace, mergedAuthorization(endpoint.authorization, scrapeClass)),
    relabel_configs: [
      keepJobName,
      ...(spec.selectorMechanism === "RoleSelector" ? [] : selectByLabels("service", spec.selector)),
      ...keepPort(endpoint, role === "endpointslice"),
      ...identity(role === "endpointslice"),
      ...(endpoint.filterRunning === false ? [] : [dropEndedPods]),
      ...(spec.targetLabels ?? []).map((label) => serviceLabel(label, labelPart(label))),
      ...podLabels(spec.podTargetLabels, generation.prometheus.spec.podTargetLabels),
      { source_labels: ["__meta_kubernetes_service_name"], target_label: "job", replacement: "${1}" },
      ...(given(spec.jobLabel) === undefined ? [] : [serviceLabel(spec.jobLabel ?? "", "job")]),
      ...endpointLabel(endpoint),
      ...userRelabelings(generation, scrapeClass, endpoint, object),
      ...shardingSteps(generation),
    ],
    ...sampleFields(generation, spec, scrapeClass, endpoint, object),
  };
}

function serviceLabel(label: string, target: string): Section {
  return copyUnlessEmpty(`__meta_kubernetes_service_label_${labelPart(label)}`, target);
}

function keepPort({ port, targetPort }: ServiceEndpoint, isBySlice: boolean): readonly Section[] {
  const name = given(port);
  if (name !== undefined)
    return [keepWhere(`__meta_kubernetes_${isBySlice ? "endpointslice" : "endpoint"}_port_name`, name)];
  if (typeof targetPort === "string")
    return targetPort === "" ? [] : [keepWhere("__meta_kubernetes_pod_container_port_name", targetPort)];
  return targetPort === undefined || targetPort === 0
    ? []
    : [keepWhere("__meta_kubernetes_pod_container_port_number", targetPort)];
}

/** What the target is: its node or pod, namespace, Service and container. */
function identity(isBySlice: boolean): readonly Section[] {
  const prefix = `__meta_kubernetes_${isBySlice ? "endpointslice" : "endpoint"}_address_target`;
  const ofKind = (kind: string, label: string): Section => ({
    source_labels: [`${prefix}_kind`, `${prefix}_name`],
    separator: ";",
    regex: `${kind};(.*)`,
    replacement: "${1}",
    target_label: label,
  });
  return [
    ofKind("Node", "node"),
    ofKind("Pod", "pod"),
    copyLabel("__meta_kubernetes_namespace", "namespace"),
    copyLabel("__meta_kubernetes_service_name", "service"),
    copyLabel("__meta_kubernetes_pod_name", "pod"),
    copyLabel("__meta_kubernetes_pod_container_name", "container"),
  ];
}

/** Which of the ports of a Service it is: the name, or the target port. */
function endpointLabel({ port, targetPort }: ServiceEndpoint): readonly Section[] {
  const name = given(port) ?? given(targetPort === undefined ? undefined : String(targetPort));
  return name === undefined ? [] : [{ target_label: "endpoint", replacement: name }];
}
