/** Chance that repeats: a number follows from the seed, the occasion and its purpose alone. */

const span = 2 ** 32;

/** From 0 to 1, 1 excluded. */
export function chance(seed: string, occasion: string, purpose: string): number {
  let hash = 0x811c9dc5;
  for (const char of `${seed}/${occasion}/${purpose}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  // The last characters have changed only the low bits so far.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / span;
}

/** One of the items; undefined of none. */
export function pick<T>(items: readonly T[], number: number): T | undefined {
  return items[Math.floor(number * items.length)];
}
