/**
 * The few DER encodings that an X.509 certificate needs. Written here because the libraries that build
 * certificates need a reflection polyfill and a dozen packages, and because key and certificate must be ready
 * within a start of 100 ms.
 */

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

/** One value: tag, length, content. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Uint8Array.from([tag, ...lengthOf(length)]), ...parts]);
}

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => der(0x30, ...parts);
export const setOf = (...parts: readonly Uint8Array[]): Uint8Array => der(0x31, ...parts);
export const octetString = (content: Uint8Array): Uint8Array => der(0x04, content);
export const utf8String = (text: string): Uint8Array => der(0x0c, Buffer.from(text));
export const boolean = (value: boolean): Uint8Array => der(0x01, Uint8Array.of(value ? 0xff : 0));

/** A bit string; `unusedBits` of the last byte do not count. */
export const bitString = (content: Uint8Array, unusedBits = 0): Uint8Array =>
  der(0x03, Uint8Array.of(unusedBits), content);

/** An unsigned integer from its big-endian bytes. */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? Uint8Array.of(0) : bytes.subarray(start);
  return (digits[0] ?? 0) >= 0x80 ? der(0x02, Uint8Array.of(0), digits) : der(0x02, digits);
}

export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const group = [arc & 0x7f];
    for (let more = arc >>> 7; more > 0; more >>>= 7) group.unshift((more & 0x7f) | 0x80);
    bytes.push(...group);
  }
  return der(0x06, Uint8Array.from(bytes));
}

/** UTCTime until 2049, GeneralizedTime from then on, as RFC 5280 wants. */
export function time(ms: number): Uint8Array {
  const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, "");
  return Number(digits.slice(0, 4)) < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

/** PEM text of a DER value. */
export function pem(label: string, content: Uint8Array): string {
  const lines =
    Buffer.from(content)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
