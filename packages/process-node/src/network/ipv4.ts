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
