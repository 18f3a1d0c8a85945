/** Reports what this node cannot serve of the cluster's network: in its log, and as Events. */
import type { Logger } from "@setpoint/host";
import { type NodeEvents, nodeReference } from "../cluster/node-events.ts";
import type { ServiceProblem } from "./service-proxy.ts";

/** The Event is about the Service, or the pod with the `hostPort`, because its users look there. */
export function reportService(
  log: Logger,
  events: NodeEvents,
  { service, address, code, error }: ServiceProblem,
): void {
  const { namespace, name } = service.metadata;
  // Usually another node of this machine serves it.
  if (code === "EADDRINUSE")
    return log.debug("Service address is in use", { address, service: `${namespace}/${name}` });
  log.warn("Could not listen on Service address", { address, service: `${namespace}/${name}`, error });
  const message = `This node cannot listen on ${address} (${code}), so connections to it are refused; run the node as root for ports below 1024`;
  events.record(service, "Warning", "FailedToListen", message);
}

export function reportDns(log: Logger, events: NodeEvents, nodeName: string, address: string, problem: string): void {
  log.warn("Could not start cluster DNS; pods resolve Service names from /etc/hosts", { address, problem });
  const message = `Cluster DNS cannot listen on ${address}, so pods resolve Service names from /etc/hosts: ${problem}`;
  events.record(nodeReference(nodeName), "Warning", "DnsUnavailable", message);
}
