/** Folders for the files of one test file, which go when it ends. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

/** Of the repository. */
export const root: string = fileURLToPath(new URL("../../..", import.meta.url));
export const candy: string = join(root, "examples/candy/candy.ts");

export function ownFolder(name: string, parent: string = tmpdir()): string {
  const folder = mkdtempSync(join(parent, `setpoint-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Inside the repository, so that its packages are found; ignored by git and by the other tools. */
export function ownFolderInside(name: string): string {
  const parent = join(root, "packages/cli/.setpoint");
  mkdirSync(parent, { recursive: true });
  return ownFolder(name, parent);
}
