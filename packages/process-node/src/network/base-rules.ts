/** The rules of a cluster's network namespace that hold for all its pods; pure. */

export interface ClusterAddresses {
  /** The Service `kubernetes`: the API server itself listens here, inside the namespace. */
  readonly api: string;
  /** Cluster DNS listens here. */
  readonly dns: string;
}

/** Every pod's default gateway; no traffic is sent to it but ARP. */
export const gatewayAddress = "169.254.1.1";
export const serviceRange = "10.96.0.0/12";
/** The addresses of all pods of a cluster. */
export const podRange = "10.64.0.0/12";
/** The port of the API server inside the pod network. */
export const apiPort = 443;
export const dnsPort = 53;
/** The names of pods' interfaces in the cluster's namespace begin with this. */
export const interfacePrefix = "pod-";

/** Input for `ip -batch -`: the addresses at which pods reach the API and DNS. */
export function baseAddresses({ api, dns }: ClusterAddresses): string {
  const addresses = [gatewayAddress, api, dns].map((address) => `addr replace ${address}/32 dev lo\n`);
  return `link set lo up\n${addresses.join("")}`;
}

/** Written to /proc/sys inside the namespace. */
export const baseSettings: readonly (readonly [string, string])[] = [
  ["net/ipv6/conf/all/disable_ipv6", "1"],
  ["net/ipv6/conf/default/disable_ipv6", "1"],
  ["net/ipv4/conf/all/rp_filter", "1"],
  ["net/ipv4/conf/default/rp_filter", "1"],
  ["net/ipv4/conf/all/send_redirects", "0"],
  ["net/ipv4/conf/default/send_redirects", "0"],
  ["net/ipv4/conf/all/accept_redirects", "0"],
  ["net/ipv4/conf/default/accept_redirects", "0"],
  ["net/ipv4/ip_unprivileged_port_start", "0"],
  ["net/ipv4/ip_forward", "1"],
];

/** Refuses at once instead of leaving a client to wait. */
const refuse = "meta l4proto tcp reject with tcp reset\n    reject";

/**
 * - A packet whose source is not the address of the pod that it comes from is dropped.
 * - An address of a Service that no rule has replaced by an endpoint refuses.
 * - Of the namespace itself pods reach the API server, cluster DNS, and ping.
 */
export function baseRules({ api, dns }: ClusterAddresses): string {
  return `add table inet setpoint
delete table inet setpoint
table inet setpoint {
  chain sources {
    type filter hook prerouting priority raw; policy accept;
    iifname "lo" accept
    meta nfproto != ipv4 drop
    fib saddr . iif oif missing drop
  }
  chain unserved {
    type filter hook prerouting priority -90; policy accept;
    ip daddr ${serviceRange} fib daddr type != local jump refuse
  }
  chain input {
    type filter hook input priority 10; policy drop;
    iifname "lo" accept
    ct state established,related accept
    ip daddr ${api} tcp dport ${apiPort} accept
    ip daddr ${dns} meta l4proto { tcp, udp } th dport ${dnsPort} accept
    icmp type echo-request accept
    jump refuse
  }
  chain forward {
    type filter hook forward priority 10; policy drop;
    iifname "${interfacePrefix}*" oifname "${interfacePrefix}*" accept
    jump refuse
  }
  chain refuse {
    ${refuse}
  }
}
`;
}
