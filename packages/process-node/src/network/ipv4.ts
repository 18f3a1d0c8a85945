/** IPv4 addresses as numbers. */

export function parseIpv4(text: string): number {
  return text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

export function formatIpv4(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

/** First address and size of `127.64.0.0/12`. */
export function parseCidr(cidr: string): { readonly base: number; readonly size: number } {
  const [address = "", bits = "32"] = cidr.split("/");
  return { base: parseIpv4(address), size: 2 ** (32 - Number(bits)) };
}

// A zero in front makes a number octal to some readers, and a name of the host's resolver to others.
const ipv4 = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/;

/** Whether the text is an address in plain decimal form; anything else must never reach a rule. */
export function isIpv4(text: string): boolean {
  return (
    ipv4
      .exec(text)
      ?.slice(1)
      .every((part) => Number(part) <= 255) ?? false
  );
}

/** Whether the text is an address and in the block. */
export function inCidr(address: string, cidr: string): boolean {
  if (!isIpv4(address)) return false;
  const { base, size } = parseCidr(cidr);
  const value = parseIpv4(address);
  return value >= base && value < base + size;
}

export function isCidr(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  return rest.length === 0 && isIpv4(address) && /^(0|[1-9]\d?)$/.test(bits) && Number(bits) <= 32;
}

/** Whether packets can be addressed to the number; anything else must never reach a rule. */
export function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65_535;
}
