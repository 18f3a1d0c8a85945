/** Tells what of the cluster's network this node cannot serve: in its log, and where users look. */
import type { Logger } from "@setpoint/host";
import { type NodeEvents, nodeReference } from "../cluster/node-events.ts";
import type { ServiceProblem } from "./service-proxy.ts";

/** Said on the Service, where somebody will look who cannot reach it. */
export function reportService(
  log: Logger,
  events: NodeEvents,
  { service, address, code, error }: ServiceProblem,
): void {
  const { namespace, name } = service.metadata;
  // Another node of this machine has it: the ordinary case with more than one node.
  if (code === "EADDRINUSE") return log.debug("Service address is taken", { address, service: `${namespace}/${name}` });
  log.warn("Service address could not be listened on", { address, service: `${namespace}/${name}`, error });
  const message = `This node cannot listen on ${address} (${code}), so connections to it are refused; ports below 1024 need root`;
  events.record(service, "Warning", "FailedToListen", message);
}

export function reportDns(log: Logger, events: NodeEvents, nodeName: string, address: string, problem: string): void {
  log.warn("Cluster DNS cannot listen, so names stand in the hosts files of pods", { address, problem });
  const message = `Cluster DNS cannot listen on ${address}, so names stand in the hosts files of pods: ${problem}`;
  events.record(nodeReference(nodeName), "Warning", "DnsUnavailable", message);
}
