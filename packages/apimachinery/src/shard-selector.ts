/**
 * Shard selectors (KEP-5866, alpha in 1.36): `shardRange(object.metadata.uid, '0x0000000000000000',
 * '0x8000000000000000')`, several joined by `||`. An object is in a range when the 64-bit FNV-1a hash of its
 * field is.
 */
import type { UnstructuredObject } from "./object.ts";

/** A hash, or the end of a range, in two halves of 32 bits; the end of all is 2³² in the upper one. */
type Hash = readonly [high: number, low: number];

/** A range of hashes, without its end. */
export interface ShardRange {
  readonly start: Hash;
  readonly end: Hash;
}

/** The metadata field whose hash decides on the shard. */
export type ShardField = "uid" | "namespace";

/** A parsed shard selector: an object matches when the hash of its field is in one of the ranges. */
export interface ShardSelector {
  readonly field: ShardField;
  readonly ranges: readonly ShardRange[];
}

const fields: readonly ShardField[] = ["uid", "namespace"];
const paths = fields.map((field) => `object.metadata.${field}`);
/** More ranges than any cluster has shards; the length limit of a request line is reached first. */
const rangesMax = 1_000;
const call = /^\(*\s*shardRange\(\s*([^,'"\s]+)\s*,\s*(['"])([^'"]*)\2\s*,\s*(['"])([^'"]*)\4\s*\)\s*\)*$/;

/** Errors: `Error` with upstream's message, where upstream has one. */
export function parseShardSelector(text: string): ShardSelector {
  const terms = text.split("||");
  if (terms.length > rangesMax) throw new Error(`at most ${rangesMax} shard ranges are allowed, got ${terms.length}`);
  const parsed = terms.map((term) => parseTerm(term.trim()));
  const [first] = parsed;
  const other = parsed.find(({ field }) => field !== first?.field);
  if (first === undefined || other === undefined)
    return { field: first?.field ?? "uid", ranges: parsed.map(({ range }) => range) };
  const both = [first, other].map(({ field }) => `"object.metadata.${field}"`).join(" and ");
  throw new Error(`all shard ranges must use the same field, got ${both}`);
}

function parseTerm(term: string): { readonly field: ShardField; readonly range: ShardRange } {
  const [, path = "", , startText = "", , endText = ""] = call.exec(term) ?? [];
  if (path === "") throw new Error("unexpected expression; expected shardRange() call or || operator");
  const field = fields[paths.indexOf(path)];
  if (field === undefined)
    throw new Error(`unsupported field path ${JSON.stringify(path)}; supported: ${paths.join(", ")}`);
  const [start, end] = [parseHash("hexStart", startText), parseHash("hexEnd", endText)];
  if (isBefore(start, end)) return { field, range: { start, end } };
  throw new Error(`shard range start ${startText} must be less than end ${endText}`);
}

const digitCount = 16;

function parseHash(name: string, text: string): Hash {
  if (!text.startsWith("0x")) throw new Error(`${name} must have '0x' prefix, got ${JSON.stringify(text)}`);
  const digits = text.slice(2);
  const wrong = /[^0-9a-f]/.exec(digits)?.[0];
  if (digits.length === digitCount + 1) {
    if (digits === `1${"0".repeat(digitCount)}`) return [2 ** 32, 0];
    throw new Error(`${name}: 17-digit hex value must be '0x10000000000000000' (2^64), got ${JSON.stringify(text)}`);
  }
  if (digits.length !== digitCount) {
    const hint = digits.length < digitCount ? ` (did you mean "0x${digits.padStart(digitCount, "0")}"?)` : "";
    throw new Error(`${name} must be a 0x-prefixed 16-digit hex value, got ${JSON.stringify(text)}${hint}`);
  }
  if (wrong !== undefined)
    throw new Error(`${name}: invalid hex character ${JSON.stringify(wrong)} in ${JSON.stringify(text)}`);
  return [Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8), 16)];
}

function isBefore([high, low]: Hash, [otherHigh, otherLow]: Hash): boolean {
  return high < otherHigh || (high === otherHigh && low < otherLow);
}

/**
 * As a server shows it in `metadata.shardInfo` of a list: the same for selectors that differ in spaces alone.
 */
export function formatShardSelector({ field, ranges }: ShardSelector): string {
  return ranges
    .map(({ start, end }) => `shardRange(object.metadata.${field}, '${formatHash(start)}', '${formatHash(end)}')`)
    .join(" || ");
}

function formatHash([high, low]: Hash): string {
  return `0x${high.toString(16).padStart(8, "0")}${low.toString(16).padStart(8, "0")}`;
}

/** Whether an object's hash is in one of the ranges. */
export function matchesShard({ field, ranges }: ShardSelector, { metadata }: UnstructuredObject): boolean {
  const hash = fnv1a(metadata[field] ?? "");
  return ranges.some(({ start, end }) => !isBefore(hash, start) && isBefore(hash, end));
}

/** Of 2⁶⁴ that the hash is multiplied with: 2⁴⁰ and this. */
const primeLow = 0x1b3;

/** FNV-1a of 64 bits; identities and namespaces are ASCII. */
function fnv1a(text: string): Hash {
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (let index = 0; index < text.length; index++) {
    const mixed = (low ^ text.charCodeAt(index)) >>> 0;
    const product = mixed * primeLow;
    high = (Math.imul(high, primeLow) + Math.floor(product / 2 ** 32) + (mixed << 8)) >>> 0;
    low = product >>> 0;
  }
  return [high, low];
}

/** Equal parts of all hashes: that of one of `count` shards. */
export function shardRangeOf(index: number, count: number): ShardRange {
  const border = (at: number): Hash => (at === count ? [2 ** 32, 0] : [Math.floor((2 ** 32 * at) / count), 0]);
  return { start: border(index), end: border(index + 1) };
}
