/** IP addresses and networks: `cidr(self.podCIDR).containsIP(self.podIP)`. */
import { readsFirst, traversal } from "../cost.ts";
import { member, plain, type Cost, type Library } from "../overload.ts";
import { CelFault, CelOpaque, sizeOf, type Value } from "../value.ts";
import { containsAddress, ipText, masked, parseIp, parseNetwork, type IpAddress, type Network } from "./ip-address.ts";

const ipKind = "net.IP";
const cidrKind = "net.CIDR";

class CelIp extends CelOpaque {
  readonly typeName = ipKind;
  readonly address: IpAddress;

  constructor(address: IpAddress) {
    super();
    this.address = address;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelIp && ipText(other.address) === ipText(this.address);
  }
}

class CelCidr extends CelOpaque {
  readonly typeName = cidrKind;
  readonly network: Network;

  constructor(network: Network) {
    super();
    this.network = network;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelCidr && cidrText(other.network) === cidrText(this.network);
  }
}

function cidrText({ address, length }: Network): string {
  return `${ipText(address)}/${length}`;
}

function ipOf(text: string): CelIp | CelFault {
  const address = parseIp(text);
  return typeof address === "string" ? new CelFault(address) : new CelIp(address);
}

function cidrOf(text: string): CelCidr | CelFault {
  const network = parseNetwork(text);
  return typeof network === "string" ? new CelFault(network) : new CelCidr(network);
}

const notAnIp: IpAddress = { family: 4, bits: 0n };

function addressOf(value: Value): IpAddress {
  return value instanceof CelIp ? value.address : notAnIp;
}

function networkOf(value: Value): Network {
  return value instanceof CelCidr ? value.network : { address: notAnIp, length: 0 };
}

function isCanonical(text: string): Value {
  const ip = ipOf(text);
  return ip instanceof CelFault ? ip : ipText(ip.address) === text;
}

function inRange(value: Value, ranges: readonly string[]): boolean {
  return ranges.some((range) => containsAddress(networkOf(cidrOf(range)), addressOf(value)));
}

function isGlobalUnicast(value: Value): boolean {
  const excluded = ["0.0.0.0/32", "255.255.255.255/32", "127.0.0.0/8", "224.0.0.0/4", "169.254.0.0/16"];
  return !inRange(value, [...excluded, "::/127", "ff00::/8", "fe80::/10"]);
}

function containsIp(network: Value, ip: CelIp | CelFault): Value {
  return ip instanceof CelFault ? ip : containsAddress(networkOf(network), ip.address);
}

function containsCidr(outer: Value, inner: CelCidr | CelFault): Value {
  if (inner instanceof CelFault) return inner;
  const network = networkOf(outer);
  return network.length <= inner.network.length && containsAddress(network, inner.network.address);
}

const parsesSecond: Cost = ([, text = null]) => 2 + traversal(sizeOf(text));

export const networks: Library = {
  ip: [
    plain(["string"], ipKind, ipOf, readsFirst),
    member([cidrKind], ipKind, (cidr) => new CelIp(networkOf(cidr).address)),
  ],
  isIP: [plain(["string"], "bool", (text) => ipOf(text) instanceof CelIp, readsFirst)],
  "ip.isCanonical": [plain(["string"], "bool", isCanonical, readsFirst)],
  family: [member([ipKind], "int", (ip) => BigInt(addressOf(ip).family))],
  isUnspecified: [member([ipKind], "bool", (ip) => addressOf(ip).bits === 0n)],
  isLoopback: [member([ipKind], "bool", (ip) => inRange(ip, ["127.0.0.0/8", "::1/128"]))],
  isLinkLocalMulticast: [member([ipKind], "bool", (ip) => inRange(ip, ["224.0.0.0/24", "ff02::/16"]))],
  isLinkLocalUnicast: [member([ipKind], "bool", (ip) => inRange(ip, ["169.254.0.0/16", "fe80::/10"]))],
  isGlobalUnicast: [member([ipKind], "bool", isGlobalUnicast)],
  cidr: [plain(["string"], cidrKind, cidrOf, readsFirst)],
  isCIDR: [plain(["string"], "bool", (text) => cidrOf(text) instanceof CelCidr, readsFirst)],
  containsIP: [
    member([cidrKind, "string"], "bool", (cidr, text) => containsIp(cidr, ipOf(text)), parsesSecond),
    member([cidrKind, ipKind], "bool", (cidr, ip) => containsIp(cidr, new CelIp(addressOf(ip)))),
  ],
  containsCIDR: [
    member([cidrKind, "string"], "bool", (cidr, text) => containsCidr(cidr, cidrOf(text)), parsesSecond),
    member([cidrKind, cidrKind], "bool", (cidr, other) => containsCidr(cidr, new CelCidr(networkOf(other)))),
  ],
  prefixLength: [member([cidrKind], "int", (cidr) => BigInt(networkOf(cidr).length))],
  masked: [member([cidrKind], cidrKind, (cidr) => new CelCidr(masked(networkOf(cidr))))],
  string: [
    plain([ipKind], "string", (ip) => ipText(addressOf(ip))),
    plain([cidrKind], "string", (cidr) => cidrText(networkOf(cidr))),
  ],
};
