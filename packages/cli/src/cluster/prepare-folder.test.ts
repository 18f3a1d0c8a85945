import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolder } from "../own-folder.fixture.ts";
import { prepareFolder, preparePrivateFolder } from "./prepare-folder.ts";

const folder = ownFolder("prepare");

test("a folder is made with its parents, and may be there", () => {
  const deep = join(folder, "a", "b");
  prepareFolder("data directory", deep);
  prepareFolder("data directory", deep);
  expect(existsSync(deep)).toBe(true);
});

test("a folder that nobody can make is refused at once, in words", () => {
  writeFileSync(join(folder, "file"), "");
  expect(() => prepareFolder("data directory", join(folder, "file"))).toThrow("it is a file, expected a folder");
  const places = [join(folder, "file", "below")];
  // There Node would look for a parent for ever.
  if (process.platform === "linux") places.push("/proc/setpoint/data");
  for (const place of places)
    expect(() => prepareFolder("data directory", place)).toThrow(
      `Cannot use "${place}" as data directory: expected a writable folder`,
    );
});

test("a private folder is closed to others, also when it was open", () => {
  const open = join(folder, "open");
  mkdirSync(open);
  chmodSync(open, 0o777);
  preparePrivateFolder("data directory", open);
  expect(statSync(open).mode & 0o777).toBe(0o700);
});

test("a folder that all users share is no private one, and stays as it is", () => {
  const shared = join(folder, "shared");
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  expect(() => preparePrivateFolder("data directory", shared)).toThrow("all users share it; use a folder in it");
  expect(statSync(shared).mode & 0o7777).toBe(0o1777);
});
