/**
 * How addresses of the pod network follow from those that nodes and clusters claim on the loopback network;
 * pure.
 */
import { interfacePrefix } from "./base-rules.ts";
import { parseIpv4 } from "./ipv4.ts";

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

/** The node's own address in the pod network, which the connections of its agent come from. */
export function nodeAddressInside(podCidr: string): string {
  return podCidr.replace(/\.0\/\d+$/, ".1");
}

/** At most 15 characters, and one name for one address. */
export function interfaceName(address: string): string {
  return `${interfacePrefix}${parseIpv4(address).toString(16).padStart(8, "0")}`;
}
