import { readdir, readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { generateFromData } from "./data.ts";

const sources = new URL("../../packages/api/src/", import.meta.url);

test("generating again gives the committed files", async () => {
  const files = await generateFromData();
  const present = (await readdir(sources)).filter((name) => !name.includes(".test"));
  expect(present.sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) expect(await readFile(new URL(name, sources), "utf8"), name).toBe(text);
});
