import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { abandonedMemory, prepareMemoryFolder, removeMemory } from "./memory-folder.ts";

test("memory belongs to its data folder alone, survives it for a restart, and is abandoned when that is gone", () => {
  const data = mkdtempSync(join(tmpdir(), "process-node-"));
  const folder = prepareMemoryFolder(data);
  onTestFinished(() => {
    for (const each of [data, folder]) rmSync(each, { recursive: true, force: true });
  });
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  writeFileSync(join(folder, "secret"), "x");
  expect(abandonedMemory()).not.toContain(folder);
  expect(prepareMemoryFolder(data)).toBe(folder);
  expect(existsSync(join(folder, "secret"))).toBe(true);
  rmSync(data, { recursive: true });
  mkdirSync(`${data}-other`);
  onTestFinished(() => rmSync(`${data}-other`, { recursive: true }));
  expect(abandonedMemory()).toContain(folder);
  removeMemory(folder);
  expect(existsSync(folder)).toBe(false);
});
