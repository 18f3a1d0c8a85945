/** The randomness of the host. */

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, bound). */
  int(bound: number): number;
  bytes(length: number): Uint8Array;
  /** A version 4 UUID. */
  uuid(): string;
}

/** Formats 16 random bytes as a version 4 UUID; changes the bytes it is given. */
export function formatUuid(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * The alphabet of generated names and pod suffixes: no vowels, so that no words appear (apimachinery's
 * util/rand).
 */
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A random suffix of `length` characters as in `web-7d9fx`. */
export function randomSuffix(random: Random, length: number): string {
  return Array.from({ length }, () => suffixAlphabet[random.int(suffixAlphabet.length)]).join("");
}
