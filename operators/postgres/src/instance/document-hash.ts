/** A short name for a document: an instance says by it which one it follows. */
import { createHash } from "node:crypto";
import { canonicalText } from "./instance-protocol.ts";

export function hashOf(document: object): string {
  return createHash("sha256").update(canonicalText(document)).digest("hex").slice(0, 16);
}
