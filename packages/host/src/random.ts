/** Randomness as a program may see it. */

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, bound). */
  int(bound: number): number;
  bytes(length: number): Uint8Array;
  /** A version 4 UUID. */
  uuid(): string;
}

const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Formats 16 random bytes as a version 4 UUID; changes the bytes it is given. */
export function formatUuid(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = (from: number, to: number): string => {
    let text = "";
    for (let at = from; at < to; at++) text += hexOfByte[bytes[at] ?? 0];
    return text;
  };
  return `${hex(0, 4)}-${hex(4, 6)}-${hex(6, 8)}-${hex(8, 10)}-${hex(10, 16)}`;
}

/** The alphabet of generated names and pod suffixes: no vowels, so that no words appear (apimachinery's util/rand). */
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A random suffix of `length` characters as in `web-7d9fx`. */
export function randomSuffix(random: Random, length: number): string {
  let suffix = "";
  for (let i = 0; i < length; i++) suffix += suffixAlphabet[random.int(suffixAlphabet.length)];
  return suffix;
}
