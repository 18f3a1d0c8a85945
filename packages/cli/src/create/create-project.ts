import { existsSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { SetpointError } from "@setpoint/apimachinery";
import type { OperatorWords } from "./operator-words.ts";
import { prepareFolder } from "../cluster/prepare-folder.ts";
import { ownVersion } from "../own-version.ts";
import { writeTexts } from "../write-text.ts";
import { ownOrigin, ownSpecifier } from "./own-package.ts";
import { scaffoldFiles } from "./scaffold-files.ts";
import { recordPath, writeRecord } from "./scaffold-record.ts";

/**
 * Writes a new project into a folder that is empty or not there; the paths written. Throws
 * `ERR_FOLDER_NOT_EMPTY`.
 */
export function createProject(words: OperatorWords, directory: string): readonly string[] {
  refuseUsedFolder(words.name, directory);
  prepareFolder("the project's folder", directory);
  const origin = ownOrigin();
  const files = scaffoldFiles(words, origin, ownSpecifier(directory));
  writeTexts(directory, files);
  writeRecord(directory, { version: ownVersion(), name: words.name, files });
  if (origin === "checkout") linkPackages(directory);
  return [...files.keys(), recordPath];
}

function refuseUsedFolder(name: string, directory: string): void {
  if (!existsSync(directory)) return;
  const state = statSync(directory).isDirectory() ? usedBy(readdirSync(directory)) : "it is a file";
  if (state === undefined) return;
  const message = `Cannot create the operator "${name}" in "${directory}": ${state}, expected an empty folder or none; nothing was written`;
  throw new SetpointError("ERR_FOLDER_NOT_EMPTY", message);
}

function usedBy(entries: readonly string[]): string | undefined {
  const [first] = entries;
  return first === undefined ? undefined : `the folder holds "${first}"${entries.length === 1 ? "" : " and more"}`;
}

/** A project outside of the checkout gets the packages, which are sources, by a link. */
function linkPackages(directory: string): void {
  if (canResolve(resolve(directory))) return;
  const modules = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
  if (existsSync(modules)) symlinkSync(modules, join(directory, "node_modules"), "dir");
}

function canResolve(directory: string): boolean {
  if (existsSync(join(directory, "node_modules", "setpoint"))) return true;
  const parent = dirname(directory);
  return parent !== directory && canResolve(parent);
}
