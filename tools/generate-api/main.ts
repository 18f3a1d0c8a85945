/**
 * Writes `packages/api/src`. Run from the repository's root:
 *
 *     node --conditions=@setpoint/source tools/generate-api/main.ts
 *
 * `packages/apiserver/data/openapi-schemas.json` holds the definitions of a Kubernetes 1.36 server's OpenAPI
 * without descriptions; `data/discovery.json` its resources, cut down to names and scopes.
 */
import { readdir, rm, writeFile } from "node:fs/promises";

import { generateFromData } from "./data.ts";

const target = new URL("../../packages/api/src/", import.meta.url);
const files = await generateFromData();
for (const name of await readdir(target)) {
  if (!files.has(name) && !name.includes(".test")) await rm(new URL(name, target));
}
for (const [name, text] of files) await writeFile(new URL(name, target), text);
