/**
 * Runs the generator on the definitions that the API server publishes and on the resources beside this file.
 */
import { readFile } from "node:fs/promises";

import type { Definitions, DiscoveredGroup } from "./definitions.ts";
import { generate } from "./generate.ts";

async function readData(path: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(path, import.meta.url), "utf8"));
}

export async function generateFromData(): Promise<Map<string, string>> {
  // The files are our own copies, whose form the generator's test fixes.
  const definitions = (await readData("../../packages/apiserver/data/openapi-schemas.json")) as Definitions;
  const groups = (await readData("data/discovery.json")) as readonly DiscoveredGroup[];
  return generate(definitions, groups);
}
