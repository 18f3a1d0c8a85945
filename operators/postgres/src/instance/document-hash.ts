/** A short name for a document: an instance says by it which one it follows. */
import { createHash } from "node:crypto";
import { canonicalText, type DesiredInstance } from "./instance-protocol.ts";

export function hashOf(desired: DesiredInstance): string {
  return createHash("sha256").update(canonicalText(desired)).digest("hex").slice(0, 16);
}
