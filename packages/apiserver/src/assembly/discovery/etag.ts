/**
 * Entity tags of discovery and OpenAPI: the SHA-512 of the content in upper-case hexadecimal, as upstream
 * makes them.
 */
import { createHash } from "node:crypto";

export function contentHash(content: string): string {
  return createHash("sha512").update(content).digest("hex").toUpperCase();
}

/** The hash by which a client sees that the storage version of a kind changed. */
export function storageVersionHash(group: string, version: string, kind: string): string {
  return createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64");
}

/** Whether an `If-None-Match` header names this tag. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((each) => each.trim() === "*" || each.trim().replace(/^W\//, "") === etag);
}
