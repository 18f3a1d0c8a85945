/** Cluster addresses of Services as rules of address translation; pure. */
import type { Service, ServicePort } from "@setpoint/api";
import { createHash } from "node:crypto";
import { inCidr, isIpv4 } from "./ipv4.ts";
import { podRange } from "./base-rules.ts";
import { backends, hasClusterIp, type ServiceTable } from "./service-table.ts";

interface Backend {
  readonly host: string;
  readonly port: number;
}

interface ServedPort {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
  readonly chain: string;
  readonly rule: string;
}

const protocols: ReadonlySet<string> = new Set(["TCP", "UDP"]);

export interface ServiceRulesOptions {
  readonly podCidr: string;
  readonly nodeAddress: string;
  /**
   * The address at which cluster DNS itself answers. The node translates no packet to it, also when a Service
   * claims it.
   */
  readonly dnsAddress: string;
}

/** Chains and the map that leads to them, for the pods of one node. */
export function serviceRules(table: ServiceTable, { podCidr, nodeAddress, dnsAddress }: ServiceRulesOptions): string {
  const oldestFirst = [...table.services()]
    .filter((service) => hasClusterIp(service) && service.spec.clusterIP !== dnsAddress)
    .sort(byAge);
  const served = firstOfEach(oldestFirst.flatMap((service) => servedPorts(table, service)));
  const elements = served.map(
    ({ address, protocol, port, chain }) => `${address} . ${protocol} . ${port} : goto ${chain}`,
  );
  const chains = new Map(served.map(({ chain, rule }) => [chain, rule]));
  return `  map services {
    type ipv4_addr . inet_proto . inet_service : verdict
${elements.length === 0 ? "" : `    elements = { ${elements.join(",\n      ")} }\n`}  }
${[...chains].map(([name, rule]) => `  chain ${name} {\n    ${rule}\n  }\n`).join("")}  chain prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    ip saddr ${podCidr} ip daddr . meta l4proto . th dport vmap @services
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ct status dnat ip saddr . ip daddr @self snat ip to ${nodeAddress}
  }
`;
}

function byAge(a: Service, b: Service): number {
  const [left, right] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * Two rules for one address and port would spoil all the others; a server that lets two Services have it is
 * none of ours.
 */
function firstOfEach(served: readonly ServedPort[]): readonly ServedPort[] {
  const byPlace = Map.groupBy(served, ({ address, protocol, port }) => `${address} ${protocol} ${port}`);
  return [...byPlace.values()].flatMap(([first]) => first ?? []);
}

function servedPorts(table: ServiceTable, service: Service): ServedPort[] {
  const address = service.spec.clusterIP ?? "";
  if (!isIpv4(address)) return [];
  return (service.spec.ports ?? []).flatMap((port) => {
    const protocol = port.protocol ?? "TCP";
    if (!protocols.has(protocol)) return [];
    // Endpoints are written by users too: an address that is no pod's is not translated to.
    const targets = backends(table, service, port).filter(({ host }) => inCidr(host, podRange));
    if (targets.length === 0) return [];
    const rule = translation(protocol.toLowerCase(), service, targets);
    return [{ address, protocol: protocol.toLowerCase(), port: port.port, chain: chainName(service, port), rule }];
  });
}

/**
 * A client's connections go to endpoints at random, or always to the same one where the Service asks for
 * that.
 */
function translation(protocol: string, service: Service, targets: readonly Backend[]): string {
  const sorted = targets.toSorted((a, b) => (a.host === b.host ? a.port - b.port : a.host < b.host ? -1 : 1));
  const entries = sorted.map(({ host, port }, i) => `${i} : ${host} . ${port}`).join(", ");
  const choice = service.spec.sessionAffinity === "ClientIP" ? "jhash ip saddr" : "numgen random";
  return `meta l4proto ${protocol} dnat ip to ${choice} mod ${sorted.length} map { ${entries} }`;
}

/** Names of users never become names of rules. */
function chainName({ metadata }: Service, { port, protocol = "TCP" }: ServicePort): string {
  const key = `${metadata.namespace}/${metadata.name}/${port}/${protocol}`;
  return `service-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}
