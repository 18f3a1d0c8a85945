/** Prefixes of keys, as ranges of bytes; pure. */
import type { KeyRange } from "./mirror-end.ts";

/** Where mirrors keep their records; a mirror never copies or deletes keys with this prefix. */
export const recordPrefix = "setpoint.dev/mirrors/";

/** The UTF-8 bytes of a text, one character each. */
export function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** An empty prefix stands for all keys, which etcd writes as two zero bytes. */
export function rangeOf(prefix: string): KeyRange {
  if (prefix === "") return { from: "\0", to: "\0" };
  // UTF-8 has no byte 255, so the last one can always be raised.
  const last = prefix.charCodeAt(prefix.length - 1);
  return { from: prefix, to: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}

/** Where the keys of one prefix are in the other etcd. */
export interface KeyMapping {
  readonly source: string;
  readonly destination: string;
}

/** The key in the destination; undefined for a key that is not copied. */
export function mappedKey(key: string, { source, destination }: KeyMapping): string | undefined {
  if (!key.startsWith(source) || key.startsWith(recordPrefix)) return undefined;
  const mapped = destination + key.slice(source.length);
  // etcd has no key without bytes, and a record is no copy.
  return mapped === "" || mapped.startsWith(recordPrefix) ? undefined : mapped;
}

/** Whether a change of one of the keys could come back as a change of the other. */
export function overlaps({ source, destination }: KeyMapping): boolean {
  return source.startsWith(destination) || destination.startsWith(source);
}
