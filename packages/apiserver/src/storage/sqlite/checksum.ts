/**
 * Checksums of a store: one for each record, and one for all. The latter is the XOR of the former: a write
 * updates it in constant time, and a missing, duplicate or outdated record changes it.
 */
import { hash } from "node:crypto";

/**
 * 128 bits: enough against damage. They are no protection against an owner of the files who computes new
 * ones.
 */
const digits = 32;
const wordDigits = 8;

/** Of one record: its key, its revision and its value as stored (empty for a deletion). */
export function recordSum(prefix: string, path: string, revision: number, value: string): string {
  return sumOf(`${prefix}\0${path}\0${revision}\0${value}`);
}

/** Of any text. */
export function sumOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, digits);
}

/** The checksum of a set of records; the same for the same records in any order. */
export class StateDigest {
  readonly #words = new Uint32Array(digits / wordDigits);

  constructor(start: string = "0".repeat(digits)) {
    this.toggle(start);
  }

  /** Adds a record that is not in the set, or takes one out that is. */
  toggle(sum: string): void {
    for (let at = 0; at < this.#words.length; at++) {
      const word = Number.parseInt(sum.slice(at * wordDigits, (at + 1) * wordDigits), 16);
      this.#words[at] = ((this.#words[at] ?? 0) ^ word) >>> 0;
    }
  }

  toString(): string {
    return Array.from(this.#words, (word) => word.toString(16).padStart(wordDigits, "0")).join("");
  }
}
