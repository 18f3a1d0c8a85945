import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolder } from "../own-folder.fixture.ts";
import { prepareFolder } from "./prepare-folder.ts";

const folder = ownFolder("prepare");

test("a folder is made with its parents, and may be there", () => {
  const deep = join(folder, "a", "b");
  prepareFolder("data directory", deep);
  prepareFolder("data directory", deep);
  expect(existsSync(deep)).toBe(true);
});

test("a folder that nobody can make is refused at once, in words", () => {
  writeFileSync(join(folder, "file"), "");
  const places = [join(folder, "file"), join(folder, "file", "below")];
  // There Node would look for a parent for ever.
  if (process.platform === "linux") places.push("/proc/setpoint/data");
  for (const place of places)
    expect(() => prepareFolder("data directory", place)).toThrow(
      `Cannot use "${place}" as data directory: it must be a folder that can be written to`,
    );
});
