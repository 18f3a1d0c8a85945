import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeTree } from "./remove-tree.ts";

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("a tree deeper than a path may be long is removed", async () => {
  const directory = join(folder(), "pod");
  mkdirSync(directory);
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(directory);
  for (let depth = 0; depth < 1_500; depth++) {
    mkdirSync("level");
    process.chdir("level");
  }
  process.chdir(before);
  await removeTree(directory);
  expect(existsSync(directory)).toBe(false);
});

test("links are removed and not followed, and folders without rights are no hindrance", async () => {
  const outside = folder();
  writeFileSync(join(outside, "kept"), "");
  const directory = join(folder(), "pod");
  mkdirSync(join(directory, "closed/inner"), { recursive: true });
  symlinkSync(outside, join(directory, "link"));
  chmodSync(join(directory, "closed"), 0);
  await removeTree(directory);
  expect([existsSync(directory), existsSync(join(outside, "kept"))]).toEqual([false, true]);
  await removeTree(directory);
});
