/**
 * Limits the values and levels of one body: processing costs time by values and stack by levels, not by
 * bytes.
 */

/** Elements and members of one body. The largest CRDs in use have about half of it. */
export const bodyValuesMax = 60_000;
/** Levels of one object. Recursive code takes several thousand; no kind needs more than a hundred. */
export const bodyLevelsMax = 500;
/**
 * Characters of all strings and keys: as many as the largest body has bytes, so that only aliases can make
 * more.
 */
export const bodyCharactersMax: number = 3 * 1024 * 1024;
/** A shorter text cannot be too deep. */
const bytesUnscanned = 2 * bodyLevelsMax;

export type Excess = "levels" | "values" | "characters";

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * What a JSON text has too much of, found without parsing it. Nothing is promised about text that is no JSON.
 */
export function excessOfJson(bytes: Uint8Array, valuesMax: number = bodyValuesMax): Excess | undefined {
  if (bytes.length <= bytesUnscanned) return undefined;
  let levels = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = stringEnd(bytes, at);
    else if (byte === comma) values++;
    else if (byte === openBrace || byte === openBracket) {
      values++;
      if (++levels > bodyLevelsMax) return "levels";
    } else if (byte === closeBrace || byte === closeBracket) levels--;
  }
  return values > valuesMax ? "values" : undefined;
}

/** Where the string that begins here ends. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

interface Place {
  readonly value: object;
  readonly level: number;
}

/**
 * What a value has too much of; a part that stands in several places counts in each, so that a circle is too
 * deep.
 */
export function excessOf(root: unknown): Excess | undefined {
  const open: Place[] = isObject(root) ? [{ value: root, level: 1 }] : [];
  let values = 0;
  let characters = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value, level } = place;
    if (level > bodyLevelsMax) return "levels";
    for (const [key, each] of Object.entries(value)) {
      characters += key.length + (typeof each === "string" ? each.length : 0);
      if (++values > bodyValuesMax) return "values";
      if (isObject(each)) open.push({ value: each, level: level + 1 });
    }
    if (characters > bodyCharactersMax) return "characters";
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
