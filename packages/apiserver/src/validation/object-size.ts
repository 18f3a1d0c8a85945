/**
 * The size of an object that is stored: etcd refuses requests beyond 1.5 MiB, and clients rely on this limit.
 */
import { ApiError, failure, isJsonObject } from "@setpoint/apimachinery";

export const objectBytesMax: number = 1.5 * 1024 * 1024;
/** The bytes that a value costs in addition to its text. */
const bytesOfValue = 4;

/**
 * Whether an object is too large to be stored. Caveat: characters are counted, and what JSON adds to them is
 * not.
 */
export function isTooLarge(object: object): boolean {
  return sizeOf(object) > objectBytesMax;
}

/** Upstream passes on what etcd answers: a 500 without a reason. */
export function tooLargeForStorage(): ApiError {
  return new ApiError(failure(500, "", "etcdserver: request is too large"));
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), bytesOfValue);
  if (!isJsonObject(value)) return bytesOfValue;
  return Object.entries(value).reduce((sum, [key, item]) => sum + key.length + sizeOf(item), bytesOfValue);
}
