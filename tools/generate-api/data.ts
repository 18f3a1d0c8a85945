/** Runs the generator on the data beside it. */
import { readFile } from "node:fs/promises";

import type { Definitions, DiscoveredGroup } from "./definitions.ts";
import { generate } from "./generate.ts";

async function readData(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`data/${name}.json`, import.meta.url), "utf8"));
}

export async function generateFromData(): Promise<Map<string, string>> {
  // The files are our own copies, whose form the generator's test fixes.
  const definitions = (await readData("openapi-schemas")) as Definitions;
  const groups = (await readData("discovery")) as readonly DiscoveredGroup[];
  return generate(definitions, groups);
}
