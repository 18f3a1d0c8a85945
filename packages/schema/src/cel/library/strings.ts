/**
 * The string functions of cel-go's extension, version 2, as Kubernetes has them, and its own `find` and
 * `findAll`.
 */
import { RE2JS } from "re2js";
import { goQuote } from "../../go-value.ts";
import { patternStepsMax } from "../../pattern.ts";
import { copiesFirst, matchesPattern, readsFirst, visitsItems, writesResult } from "../cost.ts";
import { member, plain, type Library } from "../overload.ts";
import { CelFault, PlainList, characterCount, type CelList, type Value } from "../value.ts";
import { formatText } from "./format-text.ts";
import { itemsOf } from "./operators.ts";

const charactersOf = (text: string): string[] => Array.from(text);

/** Walks to the character without a list of all. */
function charAt(text: string, index: bigint): Value {
  if (index < 0n || index > text.length) return new CelFault(`index out of range: ${index}`);
  let at = 0;
  for (let left = Number(index); left > 0 && at < text.length; left--) at += unitsAt(text, at);
  if (at === text.length) return characterCount(text) < index ? new CelFault(`index out of range: ${index}`) : "";
  return text.slice(at, at + unitsAt(text, at));
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function substring(text: string, start: bigint, end?: bigint): Value {
  const characters = charactersOf(text);
  const to = end ?? BigInt(characters.length);
  if (start < 0n || start > characters.length) return new CelFault(`index out of range: ${start}`);
  if (end !== undefined && (end < 0n || end > characters.length)) return new CelFault(`index out of range: ${end}`);
  if (start > to) return new CelFault(`invalid substring range. start: ${start}, end: ${to}`);
  return characters.slice(Number(start), Number(to)).join("");
}

function indexOf(text: string, part: string, from = 0n): Value {
  const [characters, wanted] = [charactersOf(text), charactersOf(part)];
  if (part === "") return from;
  if (from < 0n || from > characters.length) return new CelFault(`index out of range: ${from}`);
  return BigInt(firstOccurrence(characters, wanted, Number(from)));
}

/** By Knuth, Morris and Pratt: never more steps than both together have elements. */
function firstOccurrence(all: readonly string[], wanted: readonly string[], from: number): number {
  const fallbacks = fallbacksOf(wanted);
  let matched = 0;
  for (let at = from; at < all.length; at++) {
    while (matched > 0 && all[at] !== wanted[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (all[at] === wanted[matched]) matched++;
    if (matched === wanted.length) return at - matched + 1;
  }
  return -1;
}

/** For each element the length of the longest beginning that also ends there. */
function fallbacksOf(wanted: readonly string[]): readonly number[] {
  const fallbacks = [0];
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (matched > 0 && wanted[at] !== wanted[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (wanted[at] === wanted[matched]) matched++;
    fallbacks.push(matched);
  }
  return fallbacks;
}

function lastIndexOf(text: string, part: string, from?: bigint): Value {
  const [characters, wanted] = [charactersOf(text), charactersOf(part)];
  if (from !== undefined && (from < 0n || from > characters.length)) return new CelFault(`index out of range: ${from}`);
  if (part === "") return from ?? BigInt(characters.length);
  const last = characters.length - wanted.length;
  const start = Math.min(last, Number(from ?? BigInt(last)));
  if (start < 0) return -1n;
  const before = characters.slice(0, start + wanted.length).reverse();
  const found = firstOccurrence(before, wanted.reverse(), 0);
  return found === -1 ? -1n : BigInt(before.length - found - wanted.length);
}

/** Longer texts than an object may hold are of no use; without a bound a short rule fills the memory. */
const resultLengthMax = 10_000_000;
const tooLong = new CelFault(`the text would have more than ${resultLengthMax} characters`);

function replace(text: string, from: string, to: string, limit = -1n): Value {
  let left = limit < 0n ? Infinity : Number(limit);
  if (from === "") {
    const characters = charactersOf(text);
    if (characters.length * to.length > resultLengthMax) return tooLong;
    const pieces = [...characters, ""].map((character) => (left-- > 0 ? to : "") + character);
    return pieces.join("");
  }
  const parts = text.split(from);
  if (text.length + parts.length * to.length > resultLengthMax) return tooLong;
  return parts.reduce((result, piece) => result + (left-- > 0 ? to : from) + piece);
}

function split(text: string, separator: string, limit = -1n): Value {
  if (limit === 0n) return new PlainList([]);
  const parts = separator === "" ? charactersOf(text) : text.split(separator);
  if (limit < 0n || parts.length <= limit) return new PlainList(parts);
  const kept = Number(limit) - 1;
  return new PlainList([...parts.slice(0, kept), parts.slice(kept).join(separator)]);
}

function join(list: CelList, separator = ""): Value {
  const items = itemsOf(list);
  if (!items.every((item) => typeof item === "string")) return new CelFault("no such overload");
  const length = items.reduce((sum, item) => sum + item.length + separator.length, 0);
  if (length > resultLengthMax) return tooLong;
  return items.join(separator);
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

const spaces = String.raw`[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
const isSpace = new RegExp(spaces);

/**
 * Not by an expression that ends in `$`: each run of spaces inside would be tried from each of its places.
 */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace.test(text.charAt(start))) start++;
  while (end > start && isSpace.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function findAll(text: string, pattern: string, limit = -1n): readonly string[] | CelFault {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch {
    return new CelFault(`Illegal regex: error parsing regexp: \`${pattern}\``);
  }
  const matcher = expression.matcher(text);
  const found: string[] = [];
  // Each search may read up to the end, whatever it finds.
  const steps = expression.programSize() * text.length;
  while ((limit < 0n || found.length < limit) && matcher.find()) {
    found.push(matcher.group() ?? "");
    if (steps * (found.length + 1) > patternStepsMax) return new CelFault("the text is too long for the pattern");
  }
  return found;
}

function listOf(found: readonly string[] | CelFault): Value {
  return found instanceof CelFault ? found : new PlainList(found);
}

function find(text: string, pattern: string): Value {
  const found = findAll(text, pattern, 1n);
  return found instanceof CelFault ? found : (found[0] ?? "");
}

export const strings: Library = {
  charAt: [member(["string", "int"], "string", charAt)],
  indexOf: [
    member(["string", "string"], "int", (text, part) => indexOf(text, part), visitsItems),
    member(["string", "string", "int"], "int", indexOf, visitsItems),
  ],
  lastIndexOf: [
    member(["string", "string"], "int", (text, part) => lastIndexOf(text, part), visitsItems),
    member(["string", "string", "int"], "int", lastIndexOf, visitsItems),
  ],
  lowerAscii: [member(["string"], "string", lowerAscii, readsFirst)],
  upperAscii: [member(["string"], "string", upperAscii, readsFirst)],
  replace: [
    member(["string", "string", "string"], "string", (text, from, to) => replace(text, from, to), copiesFirst),
    member(["string", "string", "string", "int"], "string", replace, copiesFirst),
  ],
  split: [
    member(["string", "string"], "list(string)", (text, separator) => split(text, separator), copiesFirst),
    member(["string", "string", "int"], "list(string)", split, copiesFirst),
  ],
  substring: [
    member(["string", "int"], "string", (text, start) => substring(text, start), readsFirst),
    member(["string", "int", "int"], "string", substring, readsFirst),
  ],
  trim: [member(["string"], "string", trim, readsFirst)],
  join: [
    member(["list(string)"], "string", (list) => join(list), writesResult),
    member(["list(string)", "string"], "string", join, writesResult),
  ],
  format: [member(["string", "list(dyn)"], "string", formatText, readsFirst)],
  "strings.quote": [plain(["string"], "string", goQuote, readsFirst)],
  find: [member(["string", "string"], "string", find, matchesPattern)],
  findAll: [
    member(["string", "string"], "list(string)", (text, pattern) => listOf(findAll(text, pattern)), matchesPattern),
    member(
      ["string", "string", "int"],
      "list(string)",
      (text, pattern, limit) => listOf(findAll(text, pattern, limit)),
      matchesPattern,
    ),
  ],
};
