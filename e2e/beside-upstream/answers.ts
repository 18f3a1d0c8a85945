/**
 * An answer in the form in which two servers are compared: what each run changes is masked, numbers are as
 * they were written.
 */

/** What a server answered to one request. */
export interface Answer {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly body: unknown;
}

const masked: Readonly<Record<string, string>> = {
  uid: "<uid>",
  resourceVersion: "<revision>",
  creationTimestamp: "<time>",
  deletionTimestamp: "<time>",
  time: "<time>",
  startTime: "<time>",
  lastTransitionTime: "<time>",
};
const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const address = /\b(10\.0\.0|127\.\d+\.\d+|10\.96\.\d+)\.\d+\b/g;
/** The five random characters of a generated name. */
const suffix = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])/g;
const time = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** The answer without what differs from run to run. A body that is no JSON is compared as text. */
export function comparable(
  status: number,
  warnings: readonly string[],
  text: string,
  keepsManagedFields: boolean,
): Answer {
  return { status, warnings: warnings.map(maskText), body: mask(parseExactly(text), keepsManagedFields) };
}

/**
 * JSON whose integers keep all their digits: those that a double cannot hold become text such as
 * `#9007199254740993`.
 */
function parseExactly(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => exactly(value, context?.source));
  } catch {
    return text;
  }
}

function exactly(value: unknown, source: string | undefined): unknown {
  if (typeof value !== "number" || source === undefined || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(source) ? `#${source}` : value;
}

function mask(value: unknown, keepsManagedFields: boolean): unknown {
  if (typeof value === "string") return maskText(value);
  if (typeof value === "number") return value > 30_000 && value <= 32_767 ? "<node port>" : value;
  if (Array.isArray(value)) return value.map((item) => mask(item, keepsManagedFields));
  if (typeof value !== "object" || value === null) return value;
  const isDefinition = "kind" in value && value.kind === "CustomResourceDefinition";
  const entries = Object.entries(value)
    .filter(([key]) => keepsManagedFields || key !== "managedFields")
    // Written by a controller meanwhile: an answer may have it or not.
    .filter(([key]) => !isDefinition || key !== "status");
  return Object.fromEntries(
    entries
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [
        key,
        typeof item === "string" ? (masked[key] ?? maskText(item)) : mask(item, keepsManagedFields),
      ]),
  );
}

function maskText(text: string): string {
  return text
    .replaceAll(uid, "<uid>")
    .replaceAll(address, "<address>")
    .replaceAll(time, "<time>")
    .replaceAll(suffix, "-<suffix>");
}

/** The paths at which two answers differ, each with what stands there: `body.spec.big: 1, upstream 2`. */
export function differencesOf(ours: unknown, upstream: unknown, path = ""): readonly Difference[] {
  if (isObject(ours) && isObject(upstream)) {
    const keys = [...new Set([...Object.keys(ours), ...Object.keys(upstream)])].toSorted();
    return keys.flatMap((key) => differencesOf(ours[key], upstream[key], path === "" ? key : `${path}.${key}`));
  }
  if (Array.isArray(ours) && Array.isArray(upstream) && ours.length === upstream.length)
    return inOrder(ours, path).flatMap((item, i) => differencesOf(item, inOrder(upstream, path)[i], `${path}[${i}]`));
  return JSON.stringify(ours) === JSON.stringify(upstream) ? [] : [{ path, ours, upstream }];
}

/** Managed fields are in the order of their times, which are whole seconds: by chance the same or not. */
function inOrder(list: readonly unknown[], path: string): readonly unknown[] {
  if (!path.endsWith(".managedFields")) return list;
  return list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

export interface Difference {
  readonly path: string;
  readonly ours: unknown;
  readonly upstream: unknown;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
