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

const ipv4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

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
  return rest.length === 0 && isIpv4(address) && /^\d{1,2}$/.test(bits) && Number(bits) <= 32;
}
