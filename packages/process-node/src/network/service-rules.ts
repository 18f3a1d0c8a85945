/** Addresses of Services and ports of nodes as rules of address translation; pure. */
import { createHash } from "node:crypto";
import { type Backend, everyNode, type ServedPort } from "./service-ports.ts";

export interface ServiceRulesOptions {
  readonly podCidr: string;
  readonly nodeAddress: string;
  /** For the clients of this node. */
  readonly services: readonly ServedPort[];
  /** For all clients of this node's address. */
  readonly hostPorts: readonly ServedPort[];
}

/** The address of any node: the first of a block of the pod range. */
const anyNode = "ip daddr & 255.240.15.255 == 10.64.0.1";

/** Chains and the maps that lead to them, in the namespace of the cluster, for the pods of one node. */
export function serviceRules({ podCidr, nodeAddress, services, hostPorts }: ServiceRulesOptions): string {
  return `${portMaps(services, hostPorts)}  chain prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    ip daddr . meta l4proto . th dport vmap @hostports
    ip saddr ${podCidr} ip daddr . meta l4proto . th dport vmap @services
    ip saddr ${podCidr} ${anyNode} meta l4proto . th dport vmap @nodeports
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ct status dnat ip saddr . ip daddr @self snat ip to ${nodeAddress}
  }
`;
}

/** What a pod with `hostNetwork` reaches at its own node, in the namespace of the node. */
export function nodeNamespaceRules({ nodeAddress, services, hostPorts }: Omit<ServiceRulesOptions, "podCidr">): string {
  return `${portMaps(services, hostPorts)}  chain output {
    type nat hook output priority -100; policy accept;
    ip daddr . meta l4proto . th dport vmap @hostports
    ip daddr ${nodeAddress} ip daddr . meta l4proto . th dport vmap @services
    ip daddr { 127.0.0.0/8, ${nodeAddress} } meta l4proto . th dport vmap @nodeports
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr 127.0.0.0/8 oifname "eth0" snat ip to ${nodeAddress}
  }
`;
}

function portMaps(services: readonly ServedPort[], hostPorts: readonly ServedPort[]): string {
  const nodePorts = services.filter(({ address }) => address === everyNode);
  const addressed = services.filter(({ address }) => address !== everyNode);
  const chains = new Map([...services, ...hostPorts].flatMap((served) => chainsOf(served)));
  const text = [...chains].map(([name, rules]) => `  ${name} {\n${rules.map((rule) => `    ${rule}\n`).join("")}  }\n`);
  const place = "ipv4_addr . inet_proto . inet_service";
  return [
    ...text,
    portMap("hostports", place, hostPorts.map(addressedElement)),
    portMap("services", place, addressed.map(addressedElement)),
    portMap("nodeports", "inet_proto . inet_service", nodePorts.map(nodePortElement)),
  ].join("");
}

function portMap(name: string, type: string, elements: readonly string[]): string {
  const list = elements.length === 0 ? "" : `    elements = { ${elements.join(",\n      ")} }\n`;
  return `  map ${name} {\n    type ${type} : verdict\n${list}  }\n`;
}

function addressedElement(served: ServedPort): string {
  return `${served.address} . ${nodePortElement(served)}`;
}

function nodePortElement(served: ServedPort): string {
  return `${served.protocol} . ${served.port} : goto ${chainName(served)}`;
}

/** Places with the same endpoints share a chain. */
function chainName(served: ServedPort): string {
  const { protocol, targets, affinitySeconds } = served;
  return `to-${digest(JSON.stringify([protocol, sorted(targets), affinitySeconds, ownersKey(served)]))}`;
}

/** Clients that stay with an endpoint stay with one of each place. */
function ownersKey({ address, port, affinitySeconds }: ServedPort): string {
  return affinitySeconds === undefined ? "" : `${address} ${port}`;
}

type Block = readonly [head: string, rules: readonly string[]];

function chainsOf(served: ServedPort): readonly Block[] {
  return served.affinitySeconds === undefined ? [plainChain(served)] : stickyChains(served, served.affinitySeconds);
}

/** A client's connections go to endpoints at random. */
function plainChain(served: ServedPort): Block {
  const { protocol, targets } = served;
  const entries = sorted(targets).map(({ host, port }, i) => `${i} : ${host} . ${port}`);
  const choice = `numgen random mod ${entries.length} map { ${entries.join(", ")} }`;
  return [`chain ${chainName(served)}`, [`meta l4proto ${protocol} dnat ip to ${choice}`]];
}

/** As many clients as an endpoint remembers. */
const clientsMax = 65_536;

/** A client goes to the endpoint that remembers it, else to any, which remembers it then. */
function stickyChains(served: ServedPort, seconds: number): readonly Block[] {
  const { address, protocol, port, targets } = served;
  const endpoints = sorted(targets).map((target) => {
    const key = digest(JSON.stringify([address, protocol, port, target, seconds]));
    return { set: `${stickySetPrefix}${key}`, chain: `ep-${key}`, target };
  });
  const known = endpoints.map(({ set, chain }) => `ip saddr @${set} goto ${chain}`);
  const entries = endpoints.map(({ chain }, i) => `${i} : goto ${chain}`);
  const any = `numgen random mod ${entries.length} vmap { ${entries.join(", ")} }`;
  return [
    ...endpoints.flatMap(({ set, chain, target }): readonly Block[] => [
      [`set ${set}`, ["type ipv4_addr", `size ${clientsMax}`, "flags dynamic,timeout", `timeout ${seconds}s`]],
      [
        `chain ${chain}`,
        [`update @${set} { ip saddr }`, `meta l4proto ${protocol} dnat ip to ${target.host}:${target.port}`],
      ],
    ]),
    [`chain ${chainName(served)}`, [...known, any]],
  ];
}

/** What clients such a set remembers must outlive a change of the rules; see `replace-table.ts`. */
export const stickySetPrefix = "clients-";

function sorted(targets: readonly Backend[]): readonly Backend[] {
  return targets.toSorted((a, b) => (a.host === b.host ? a.port - b.port : a.host < b.host ? -1 : 1));
}

/** Names of users never become names of rules. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
