/**
 * How addresses of the pod network follow from those that nodes and clusters claim on the loopback network;
 * pure.
 */
import { interfacePrefix } from "./base-rules.ts";
import { blockBits } from "./address-block.ts";
import { formatIpv4, parseCidr, parseIpv4 } from "./ipv4.ts";

/**
 * The address in the pod network for one that the host's loopback network has for the same thing: 127.64.0.2
 * → 10.64.0.2.
 */
export function podNetworkAddress(loopbackAddress: string): string {
  return loopbackAddress.replace(/^127\./, "10.");
}

/** The reverse: where a Service of the pod network is mirrored on the host. */
export function hostAddress(address: string): string {
  return address.replace(/^10\./, "127.");
}

/** The address of the node that has this address of the pod network in its block. */
export function nodeAddressOf(address: string): string {
  const { size } = parseCidr(`0.0.0.0/${blockBits}`);
  return formatIpv4(Math.floor(parseIpv4(address) / size) * size + 1);
}

/** Where the connections of a node's agent come from: the last address of the block, which no pod gets. */
export function agentAddressInside(podCidr: string): string {
  const { base, size } = parseCidr(podCidr);
  return formatIpv4(base + size - 1);
}

/** At most 15 characters, and one name for one address. */
export function interfaceName(address: string): string {
  return `${interfacePrefix}${parseIpv4(address).toString(16).padStart(8, "0")}`;
}
