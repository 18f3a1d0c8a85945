/** The scrape job of one endpoint of a ServiceMonitor. */
import type { ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import { endpointsRole, serverSideSelectors } from "./discovery.ts";
import { type Generation, given, type Section } from "./generation.ts";
import { monitorJob } from "./monitor-job.ts";
import {
  copyLabel,
  copyUnlessEmpty,
  dropEndedPods,
  keepWhere,
  labelPart,
  podLabels,
  selectByLabels,
} from "./relabeling.ts";
import { mergedTls } from "./scrape-class.ts";

export function serviceMonitorJob(
  generation: Generation,
  monitor: ServiceMonitor,
  endpoint: ServiceEndpoint,
  index: number,
): Section {
  const { spec } = monitor;
  const role = endpointsRole(generation, spec.serviceDiscoveryRole);
  return monitorJob(generation, monitor, endpoint, {
    resource: "servicemonitors",
    prefix: "serviceMonitor",
    index,
    discovery: { role, metadataSince: "2.37.0", selectors: serverSideSelectors(spec, [role, "service"]) },
    tls: (scrapeClass) => mergedTls(endpoint.tlsConfig, scrapeClass),
    targets: [
      ...(spec.selectorMechanism === "RoleSelector" ? [] : selectByLabels("service", spec.selector)),
      ...keepPort(endpoint, role === "endpointslice"),
      ...identity(role === "endpointslice"),
      ...(endpoint.filterRunning === false ? [] : [dropEndedPods]),
      ...(spec.targetLabels ?? []).map((label) => serviceLabel(label, labelPart(label))),
      ...podLabels(spec.podTargetLabels, generation.prometheus.spec.podTargetLabels),
      { source_labels: ["__meta_kubernetes_service_name"], target_label: "job", replacement: "${1}" },
      ...(given(spec.jobLabel) === undefined ? [] : [serviceLabel(spec.jobLabel ?? "", "job")]),
    ],
  });
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
