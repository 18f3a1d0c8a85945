/** NetworkPolicies as rules of a packet filter, for the pods of one node; pure. */
import type { NetworkPolicyPort } from "@setpoint/api";
import { lookupTable } from "@setpoint/apimachinery";
import { createHash } from "node:crypto";
import { isCidr, isIpv4, isPort } from "./ipv4.ts";
import {
  type AllowedTraffic,
  allowedTraffic,
  type Direction,
  type PeerAddresses,
  type PodAddress,
  type PolicySources,
} from "./policy-table.ts";

interface PodChain {
  readonly address: string;
  readonly chain: string;
  readonly rules: readonly string[];
}

/**
 * Connections that were allowed go on after a change of policies. A pod always reaches itself. Traffic of the
 * node (probes, the API server's webhooks, cluster DNS, pods with `hostNetwork`) is not subject to policies,
 * as everywhere; the API server as a destination is.
 */
export function policyRules(
  sources: PolicySources,
  own: readonly PodAddress[],
  { apiAddress, nodeAddress }: { readonly apiAddress: string; readonly nodeAddress: string },
): string {
  const ingress = own.flatMap((pod) => podChain(sources, pod, "ingress"));
  const egress = own.flatMap((pod) => podChain(sources, pod, "egress"));
  const chains = new Map([...ingress, ...egress].map(({ chain, rules }) => [chain, rules]));
  const self = own.map(({ address }) => `${address} . ${address}`);
  return `  set self {
    type ipv4_addr . ipv4_addr
${self.length === 0 ? "" : `    elements = { ${self.join(",\n      ")} }\n`}  }
  chain refuse {
    meta l4proto tcp reject with tcp reset
    reject with icmpx type admin-prohibited
  }
${[...chains].map(([name, rules]) => `  chain ${name} {\n${[...rules, "jump refuse"].map((rule) => `    ${rule}\n`).join("")}  }\n`).join("")}  chain forward {
    type filter hook forward priority 0; policy accept;
    ct state established,related accept
    ip saddr ${nodeAddress} accept
    ip saddr . ip daddr @self accept
${dispatch("saddr", egress)}${dispatch("daddr", ingress)}  }
  chain input {
    type filter hook input priority 0; policy accept;
    ct state established,related accept
    ip daddr != ${apiAddress} accept
${dispatch("saddr", egress)}  }
`;
}

function dispatch(side: "saddr" | "daddr", chains: readonly PodChain[]): string {
  if (chains.length === 0) return "";
  return `    ip ${side} vmap { ${chains.map(({ address, chain }) => `${address} : jump ${chain}`).join(", ")} }\n`;
}

/** Pods for which the same holds share a chain. */
function podChain(sources: PolicySources, pod: PodAddress, direction: Direction): PodChain[] {
  const allowed = allowedTraffic(sources, pod, direction);
  if (allowed === undefined) return [];
  const rules = [...new Set(allowed.flatMap((each) => allowRules(each, pod, direction, sources.pods)))];
  const name = createHash("sha256").update(`${direction} ${rules.join()}`).digest("hex").slice(0, 16);
  return [{ address: pod.address, chain: `${direction}-${name}`, rules }];
}

function allowRules(
  allowed: AllowedTraffic,
  pod: PodAddress,
  direction: Direction,
  all: readonly PodAddress[],
): string[] {
  const ports = allowed.ports ?? [undefined];
  return ports.flatMap((port) =>
    direction === "ingress" ? ingressRules(allowed.peers, port, pod) : egressRules(allowed.peers, port, all),
  );
}

function ingressRules(
  peers: PeerAddresses | undefined,
  port: NetworkPolicyPort | undefined,
  pod: PodAddress,
): string[] {
  const from = peers === undefined ? [""] : [...podMatch("saddr", peers.pods), ...blockMatches("saddr", peers)];
  return from.flatMap((match) => portMatches(port, [pod]).map((each) => allow(match, each)));
}

function egressRules(
  peers: PeerAddresses | undefined,
  port: NetworkPolicyPort | undefined,
  all: readonly PodAddress[],
): string[] {
  if (typeof port?.port === "string") return egressToNamedPort(peers?.pods ?? all, port);
  const to = peers === undefined ? [""] : [...podMatch("daddr", peers.pods), ...blockMatches("daddr", peers)];
  return to.flatMap((match) => portMatches(port, []).map((each) => allow(match, each)));
}

/** The name stands for another number in each of the pods that have it. */
function egressToNamedPort(pods: readonly PodAddress[], port: NetworkPolicyPort): string[] {
  return pods.flatMap((pod) =>
    portMatches(port, [pod]).flatMap((each) => podMatch("daddr", [pod]).map((match) => allow(match, each))),
  );
}

function allow(...matches: readonly string[]): string {
  return [...matches, "return"].filter((part) => part !== "").join(" ");
}

function podMatch(side: string, pods: readonly PodAddress[]): string[] {
  const addresses = [...new Set(pods.map(({ address }) => address))].filter(isIpv4);
  return addresses.length === 0 ? [] : [`ip ${side} { ${addresses.toSorted().join(", ")} }`];
}

/** Each exception is a match of its own, for those of a set must not overlap. */
function blockMatches(side: string, { blocks }: PeerAddresses): string[] {
  return blocks
    .filter(({ cidr }) => isCidr(cidr))
    .map(({ cidr, except }) =>
      [`ip ${side} ${cidr}`, ...except.filter(isCidr).map((each) => `ip ${side} != ${each}`)].join(" "),
    );
}

const protocols: Readonly<Record<string, string>> = lookupTable({ TCP: "tcp", UDP: "udp", SCTP: "sctp" });

/** `named`: the pods in which the name of a port is looked up. */
function portMatches(port: NetworkPolicyPort | undefined, named: readonly PodAddress[]): string[] {
  if (port === undefined) return [""];
  const { protocol = "TCP", port: number, endPort } = port;
  const name = protocols[protocol];
  if (name === undefined) return [];
  if (number === undefined) return [`meta l4proto ${name}`];
  if (typeof number === "string") {
    const numbers = named.flatMap(({ ports }) => ports.get(`${protocol}/${number}`) ?? []);
    return [...new Set(numbers)].filter(isPort).map((each) => `${name} dport ${each}`);
  }
  // One rule that the kernel refuses would keep all others from being applied.
  if (!isPort(number) || (endPort !== undefined && (!isPort(endPort) || endPort < number))) return [];
  return [`${name} dport ${endPort === undefined ? number : `${number}-${endPort}`}`];
}
