/** The worst-case cost of function calls without their arguments, and the maximum size of their results. */
import { lookupTable } from "@setpoint/apimachinery";
import type { CelType } from "./type.ts";

export interface Argument {
  readonly type: CelType;
  /** The most that it can be. */
  readonly size: number;
  readonly sizeMin: number;
  /** The size of an item, if it is a list. */
  readonly element: number;
  readonly literal: unknown;
}

export interface CallEstimate {
  readonly cost: number;
  readonly size?: number;
}

const tenth = (size: number): number => Math.ceil(size * 0.1);
const quarter = (size: number): number => Math.ceil(size * 0.25);
const none: Argument = { type: { kind: "dyn" }, size: 2 ** 64, sizeMin: 0, element: 2 ** 64, literal: undefined };
/** The longest pattern of a named format. */
const formatPatternMax = 128;
const addressBytesMax = 16;
const authorizationCost = 350_000;

/** `takesText` says that the call may be one of strings or bytes. */
type Estimator = (first: Argument, second: Argument, third: Argument, takesText: boolean) => CallEstimate;

const readsFirst: Estimator = ({ size }) => ({ cost: tenth(size) });
const keepsSize: Estimator = ({ size }) => ({ cost: tenth(size), size });
const patternCost = (text: Argument, pattern: Argument): CallEstimate => ({
  cost: tenth(text.size + 1) * quarter(pattern.size),
});
const matchesPattern: Estimator = (text, pattern) => patternCost(text, pattern);
const compares = (a: Argument, b: Argument): CallEstimate => ({ cost: tenth(Math.min(a.size, b.size)) });

/** Comparing each item of one list with each of the other. */
const comparesLists =
  (times: number): Estimator =>
  (a, b) => ({ cost: a.size * b.size * times + 1 });

/** A call, a new list, and the writing of it. */
function newList(size: number, factor = 1): CallEstimate {
  return { cost: Math.ceil(size * factor) + 11, size };
}

const comparesItems: Estimator = ({ type, size }) => {
  const item = type.kind === "list" ? type.element.kind : "dyn";
  return newList(size * size, item === "string" || item === "bytes" ? 2.1 : 2);
};

function wholeNumber({ literal }: Argument, otherwise: number): number {
  return typeof literal === "bigint" ? Number(literal) : otherwise;
}

const visitsItems: Estimator = (list) => {
  if (list.type.kind !== "list") return { cost: tenth(list.size) };
  const isText = list.type.element.kind === "string" || list.type.element.kind === "bytes";
  return { cost: list.size * (isText ? 1 + tenth(list.element) : 1) };
};

const ordered: Estimator = (a, b, _c, takesText) => (takesText ? compares(a, b) : { cost: 1 });

const equality: Estimator = (a, b) => (a.type.kind === "opaque" ? { cost: 1 } : compares(a, b));

const adds: Estimator = (a, b, _c, takesText) => {
  const size = a.size + b.size;
  if (takesText) return { cost: tenth(size), size };
  return a.type.kind === "list" ? { cost: 1, size } : { cost: 1 };
};

const replaces: Estimator = (text, from, to) => {
  const cost = Math.ceil(text.size * 0.2);
  if (from.sizeMin === 0) return { cost, size: (text.size + 1) * to.size + text.size };
  if (to.size <= from.sizeMin) return { cost, size: text.size };
  return { cost, size: Math.ceil(text.size / from.sizeMin) * to.size };
};

const splits: Estimator = (text, _separator, limit) => ({
  cost: Math.ceil(text.size * 0.2),
  size: typeof limit.literal === "bigint" ? Number(limit.literal) : text.size,
});

const joins: Estimator = (list, separator) => {
  const separators = separator === none ? 0 : separator.size * Math.max(0, list.size - 1);
  const size = list.size * list.element + separators;
  return { cost: tenth(size), size };
};

const finds: Estimator = (text, pattern) => ({ ...patternCost(text, pattern), size: text.size });

const containsIp: Estimator = (_cidr, ip) => ({
  cost: tenth(addressBytesMax * 2) + (ip.type.kind === "string" ? tenth(ip.size) : 0),
});

const containsCidr: Estimator = (_cidr, other) => ({
  cost:
    tenth(addressBytesMax * 2) + tenth(addressBytesMax) + 1 + (other.type.kind === "string" ? tenth(other.size) : 0),
});

const ofSize =
  (grow: (size: number) => number): Estimator =>
  ({ size }) => ({ cost: tenth(size), size: grow(size) });

/**
 * What is only known at run time, as an integer or string is, counts as the most expensive that it may be.
 */
function mayBe({ type }: Argument, kind: "string" | "bytes"): boolean {
  return type.kind === kind || type.kind === "dyn";
}

const estimators: Readonly<Record<string, Estimator>> = lookupTable({
  "_==_": equality,
  "_!=_": equality,
  "_<_": ordered,
  "_<=_": ordered,
  "_>_": ordered,
  "_>=_": ordered,
  "_+_": adds,
  "@in": (_item, range) => ({ cost: range.type.kind === "map" ? 1 : range.size }),
  matches: matchesPattern,
  contains: (text, part) => ({ cost: tenth(text.size) * tenth(part.size) }),
  startsWith: (_text, part) => ({ cost: tenth(part.size) }),
  endsWith: (_text, part) => ({ cost: tenth(part.size) }),
  format: readsFirst,
  bytes: (value) => (mayBe(value, "string") ? { cost: tenth(value.size), size: value.size * 4 } : { cost: 1 }),
  string: (value) => (mayBe(value, "bytes") ? { cost: tenth(value.size), size: value.size } : { cost: 1 }),
  "strings.quote": ofSize((size) => size * 2 + 2),
  lowerAscii: keepsSize,
  upperAscii: keepsSize,
  substring: keepsSize,
  trim: keepsSize,
  replace: replaces,
  split: splits,
  join: joins,
  find: finds,
  findAll: finds,
  isSorted: visitsItems,
  sum: visitsItems,
  min: visitsItems,
  max: visitsItems,
  indexOf: visitsItems,
  lastIndexOf: visitsItems,
  "sets.contains": comparesLists(1),
  "sets.intersects": comparesLists(1),
  "sets.equivalent": comparesLists(2),
  distinct: comparesItems,
  sort: comparesItems,
  reverse: ({ size }) => newList(size),
  slice: (list, start, end) => newList(wholeNumber(end, list.size) - wholeNumber(start, 0)),
  flatten: (list, depth) => newList(list.size, depth === none ? 1 : wholeNumber(depth, none.size)),
  "lists.range": (count) => newList(wholeNumber(count, none.size)),
  url: keepsSize,
  ip: (value) => ({ cost: value.type.kind === "string" ? tenth(value.size) : 1 }),
  isIP: readsFirst,
  cidr: readsFirst,
  isCIDR: readsFirst,
  "ip.isCanonical": ({ size }) => ({ cost: Math.ceil(size * 0.2) }),
  containsIP: containsIp,
  containsCIDR: containsCidr,
  quantity: readsFirst,
  isQuantity: readsFirst,
  semver: readsFirst,
  isSemver: readsFirst,
  // The same name may be of something else, in what is not known.
  check: (of) => ({ cost: of.type.kind === "opaque" || of.type.kind === "dyn" ? authorizationCost : 1 }),
  fieldSelector: (_of, selector) => ({ cost: tenth(selector.size) }),
  labelSelector: (_of, selector) => ({ cost: tenth(selector.size) }),
  validate: (_format, text) => ({ cost: tenth(text.size) * quarter(formatPatternMax) }),
});

export function callEstimate(name: string, args: readonly Argument[], takesText: boolean): CallEstimate {
  const [first = none, second = none, third = none] = args;
  const estimator = Object.hasOwn(estimators, name) ? estimators[name] : undefined;
  return estimator?.(first, second, third, takesText) ?? { cost: 1 };
}
