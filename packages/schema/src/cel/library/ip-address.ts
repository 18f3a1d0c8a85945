/** IP addresses as numbers. */

export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** The address, or what is wrong with the text. */
export function parseIp(text: string): IpAddress | string {
  const address = text.includes(":") ? parseIpv6(text) : parseIpv4(text);
  if (address === undefined) {
    const why = /^[0-9.]*$/.test(text) || text.includes(":") ? "invalid IP address" : "unable to parse IP";
    return `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): ${why}`;
  }
  if (text.includes("%")) return `IP address ${JSON.stringify(text)} with zone value is not allowed`;
  if (address.family === 6 && address.bits >> 32n === 0xffffn)
    return `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`;
  return address;
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255))
    return undefined;
  return { family: 4, bits: parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n) };
}

function parseIpv6(text: string): IpAddress | undefined {
  const [address = ""] = text.split("%");
  const embedded = /(?:^|:)((?:\d+\.){3}\d+)$/.exec(address)?.[1];
  const tail = embedded === undefined ? undefined : parseIpv4(embedded);
  if (embedded !== undefined && tail === undefined) return undefined;
  const plain =
    embedded === undefined || tail === undefined
      ? address
      : `${address.slice(0, -embedded.length)}${(tail.bits >> 16n).toString(16)}:${(tail.bits & 0xffffn).toString(16)}`;
  const halves = plain.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], rest = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...rest];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return { family: 6, bits: groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n) };
}

/** The canonical text. */
export function ipText({ family, bits }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - index * 16)) & 0xffffn).toString(16));
  const text = groups.join(":");
  // The longest run of at least two zero groups, the first of equals.
  const runs = Array.from(text.matchAll(/(?:^|(?<=:))0(?::0)+(?=$|:)/g));
  const longest = runs.reduce<RegExpExecArray | undefined>(
    (best, run) => (best === undefined || run[0].length > best[0].length ? run : best),
    undefined,
  );
  if (longest === undefined) return text;
  const before = text.slice(0, longest.index).replace(/:$/, "");
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, "");
  return `${before}::${after}`;
}

export interface Network {
  readonly address: IpAddress;
  readonly length: number;
}

export function parseNetwork(text: string): Network | string {
  const fail = (why: string): string =>
    `network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): ${why}`;
  const slash = text.lastIndexOf("/");
  if (slash === -1) return fail("no '/'");
  const address = parseIp(text.slice(0, slash));
  if (typeof address === "string") return fail(address);
  const digits = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(digits)) return fail(`bad bits after slash: ${JSON.stringify(digits)}`);
  const length = Number(digits);
  return length > widthOf(address) ? fail("prefix length out of range") : { address, length };
}

function widthOf({ family }: IpAddress): number {
  return family === 4 ? 32 : 128;
}

export function masked({ address, length }: Network): Network {
  const shift = BigInt(widthOf(address) - length);
  return { address: { ...address, bits: (address.bits >> shift) << shift }, length };
}

export function containsAddress(network: Network, address: IpAddress): boolean {
  if (network.address.family !== address.family) return false;
  return masked({ address, length: network.length }).address.bits === masked(network).address.bits;
}
