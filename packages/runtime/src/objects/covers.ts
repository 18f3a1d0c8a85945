import { deepEqual } from "@setpoint/apimachinery";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Whether `actual` already has everything that `wanted` says; it may have more (defaults, other managers'
 * fields). Elements of lists are compared by `name` when they have one, else by their place. May say no
 * although the server would see no difference (`1000m` is `1`), never yes when there is one.
 */
export function covers(actual: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted !== "object" || wanted === null || typeof actual !== "object" || actual === null)
    return deepEqual(actual, wanted);
  if (Array.isArray(wanted)) return Array.isArray(actual) && coversList(actual, wanted);
  return !Array.isArray(actual) && coversMap(actual as Fields, wanted as Fields);
}

function coversMap(actual: Fields, wanted: Fields): boolean {
  return Object.keys(wanted).every((key) => covers(actual[key], wanted[key]));
}

function coversList(actual: readonly unknown[], wanted: readonly unknown[]): boolean {
  if (actual.length < wanted.length) return false;
  if (wanted.every(hasName))
    return wanted.every((each) =>
      covers(
        actual.filter(hasName).find((other) => other.name === each.name),
        each,
      ),
    );
  return actual.length === wanted.length && wanted.every((each, index) => covers(actual[index], each));
}

function hasName(value: unknown): value is { readonly name: string } {
  return typeof value === "object" && value !== null && typeof (value as { name?: unknown }).name === "string";
}
