/**
 * What a mirror knows of itself. It is a key of the destination, written in the transactions of the copied
 * keys, so that both are always of one revision.
 */
import { z } from "zod";
import { recordPrefix } from "./key-range.ts";

export const mirrorRecord = z.object({
  /** The ID of the source's cluster. */
  source: z.string(),
  /** The destination has all keys as of this revision of the source; 0 until the first copy is complete. */
  revision: z.int(),
  /** The newest revision that the source has reported. */
  sourceRevision: z.int(),
  /** How many complete copies were made: the first, and those after a compaction. */
  copies: z.int(),
  /** The keys that the last complete copy has found in the source. */
  keys: z.int(),
  at: z.string(),
  /** The prefixes of its keys in the source and in the destination; records of earlier releases lack them. */
  mapping: z.object({ source: z.string(), destination: z.string() }).optional(),
  /** Why the mirror does not go on. */
  problem: z.object({ reason: z.string(), message: z.string() }).optional(),
});
export type MirrorRecord = Readonly<z.infer<typeof mirrorRecord>>;

/** A pod that follows its source writes its record at least this often, as a sign of life. */
export const heartbeatMs = 60_000;

/** Another object of the same name starts with its own. */
export function recordKeyOf(uid: string): string {
  return `${recordPrefix}${uid}`;
}

/** Undefined for a text that is no record. */
export function parseRecord(text: string | undefined): MirrorRecord | undefined {
  if (text === undefined) return undefined;
  try {
    return mirrorRecord.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
