/** The scrape job of one endpoint of a PodMonitor. */
import type { PodEndpoint, PodMonitor } from "../kind/pod-monitor.ts";
import { serverSideSelectors } from "./discovery.ts";
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
import { mergedSafeTls } from "./scrape-class.ts";

export function podMonitorJob(
  generation: Generation,
  monitor: PodMonitor,
  endpoint: PodEndpoint,
  index: number,
): Section {
  const { metadata, spec } = monitor;
  const jobLabel = given(spec.jobLabel);
  return monitorJob(generation, monitor, endpoint, {
    resource: "podmonitors",
    prefix: "podMonitor",
    index,
    discovery: { role: "pod", selectors: serverSideSelectors(spec, ["pod"]) },
    tls: (scrapeClass) => mergedSafeTls(endpoint.tlsConfig, scrapeClass),
    targets: [
      ...(endpoint.filterRunning === false ? [] : [dropEndedPods]),
      ...(spec.selectorMechanism === "RoleSelector" ? [] : selectByLabels("pod", spec.selector)),
      ...keepPort(endpoint),
      copyLabel("__meta_kubernetes_namespace", "namespace"),
      copyLabel("__meta_kubernetes_pod_container_name", "container"),
      copyLabel("__meta_kubernetes_pod_name", "pod"),
      ...podLabels(spec.podTargetLabels, generation.prometheus.spec.podTargetLabels),
      { target_label: "job", replacement: `${metadata.namespace ?? ""}/${metadata.name ?? ""}` },
      ...(jobLabel === undefined ? [] : [copyUnlessEmpty(`__meta_kubernetes_pod_label_${labelPart(jobLabel)}`, "job")]),
    ],
  });
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
