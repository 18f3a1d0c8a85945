/** Values as Kubernetes' messages print them: what Go's `%q`, `%v` and its JSON encoder print. */
import { encodeJson, lookupTable } from "@setpoint/apimachinery";

const escapes: Readonly<Record<string, string>> = lookupTable({
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
});

const unprintable = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** A string in Go's quotes (strconv.Quote): printable characters of any script stay as they are. */
export function goQuote(text: string): string {
  return `"${text.replace(unprintable, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const short = escapes[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, "0");
}

/** The value after `Invalid value: `: strings quoted, numbers and booleans bare, the rest as JSON. */
export function goValue(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  return typeof value === "string" ? goQuote(value) : goJson(value);
}

const htmlCharacters = /[<>&\u2028\u2029]/g;

/** JSON as Go encodes it: keys in order, and the characters that mean something in HTML escaped. */
export function goJson(value: unknown): string {
  const text = encodeJson(sorted(value));
  return text.replace(htmlCharacters, (character) => `\\u${hex(character.charCodeAt(0), 4)}`);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
