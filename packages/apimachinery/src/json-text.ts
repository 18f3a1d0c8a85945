/**
 * The JSON text of API objects. Integers are exact over the range of int64, as upstream: those that a number
 * may not hold exactly are a `bigint` in the value, all others a `number`. All JSON of objects goes through
 * here.
 */

/** What the language's library has, and the types of the compiler lack. */
const { rawJSON } = JSON as JSON & { readonly rawJSON: (text: string) => object };

/** Digits that may be such an integer, or a number beyond the range of float64; not within most strings. */
const unusualNumber = /(?:^|[[:,\s-])\d{16}|\d[eE]\+?\d{3}/;
const integerText = /^-?\d+$/;

/**
 * The value of a JSON text. Errors: `SyntaxError` for text that is no JSON, and in upstream's words for a
 * number beyond the range of float64.
 */
export function decodeJson(text: string): unknown {
  return unusualNumber.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

function exactNumber(_key: string, value: unknown, context?: { readonly source: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const { source } = context ?? { source: String(value) };
  if (!Number.isFinite(value))
    throw new SyntaxError(`json: cannot unmarshal number ${source} into Go value of type float64`);
  return integerText.test(source) ? exactInteger(BigInt(source)) : value;
}

/** The one form of an integer in a value: a `bigint` only if a number may not hold it, and int64 does. */
export function exactInteger(integer: bigint): number | bigint {
  const number = Number(integer);
  return Number.isSafeInteger(number) || BigInt.asIntN(64, integer) !== integer ? number : integer;
}

/** The JSON text of a value, compact or with an indent; `null` for what JSON does not have. */
export function encodeJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? "null";
  } catch (error) {
    // It throws for a bigint, which few values have; what goes in circles throws again.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, rawInteger, indent) ?? "null";
  }
}

function rawInteger(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? rawJSON(String(value)) : value;
}

/** Whether a value is an integer of JSON: a number beyond 2^53 is the result of a float. */
export function isJsonInteger(value: unknown): value is number | bigint {
  return Number.isSafeInteger(value) || typeof value === "bigint";
}
