/** Values that decoders and validators tend to get wrong, chosen by a seeded source. */
import type { Random } from "@setpoint/host";

export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[random.int(values.length)];
  if (value === undefined) throw new RangeError("Cannot pick from an empty list");
  return value;
}

const strings: readonly string[] = [
  "",
  " ",
  "a",
  "A".repeat(300),
  "../../etc/passwd",
  "%2e%2e%2f",
  "\u0000",
  "\ud800",
  "é\u0301",
  "👾".repeat(40),
  "__proto__",
  "constructor",
  "null",
  "1e999",
  "a=b,c!=d",
  "{{.}}",
  "x".repeat(70_000),
];

const numbers: readonly number[] = [0, -0, -1, 1, 0.1, 2 ** 31, 2 ** 53, 2 ** 63, 1e15, 1e308, -1e308];

/** Any JSON value, at most `depth` deep. */
export function anyValue(random: Random, depth = 3): unknown {
  const kind = random.int(depth > 0 ? 8 : 5);
  if (kind === 0) return null;
  if (kind === 1) return random.int(2) === 0;
  if (kind === 2) return pick(random, numbers);
  if (kind <= 4) return pick(random, strings);
  if (kind <= 6) return Array.from({ length: random.int(4) }, () => anyValue(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: random.int(4) }, () => [pick(random, strings).slice(0, 60), anyValue(random, depth - 1)]),
  );
}

/** A copy of `value` in which one place is another value, missing, or twice as much. */
export function mutated(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || random.int(6) === 0) return anyValue(random);
  if (Array.isArray(value)) return mutatedList(random, value);
  const entries = Object.entries(value);
  if (entries.length === 0) return { [pick(random, strings).slice(0, 60)]: anyValue(random) };
  const at = random.int(entries.length);
  if (random.int(8) === 0) return Object.fromEntries(entries.toSpliced(at, 1));
  return Object.fromEntries(entries.map(([key, item], i) => [key, i === at ? mutated(random, item) : item]));
}

function mutatedList(random: Random, list: readonly unknown[]): unknown {
  if (list.length === 0) return [anyValue(random)];
  const at = random.int(list.length);
  if (random.int(6) === 0) return [...list, ...list, ...list];
  return list.map((item, i) => (i === at ? mutated(random, item) : item));
}

/** `bytes` with a few of them changed, cut or repeated. */
export function damaged(random: Random, bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let i = random.int(4); i >= 0; i--) if (copy.length > 0) copy[random.int(copy.length)] = random.int(256);
  if (random.int(4) === 0) return copy.subarray(0, random.int(copy.length + 1));
  if (random.int(8) === 0) return Buffer.concat([copy, copy]);
  return copy;
}
