/** The hash by which the operator and a reloader know that they mean the same configuration. */
import { createHash } from "node:crypto";

/** `rules` are the files by `CONFIGMAP/FILE`. The configuration is as in its Secret, variables included. */
export function configurationHash(configuration: string, rules: ReadonlyMap<string, string>): string {
  const files = [...rules].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([configuration, files]))
    .digest("hex");
}
