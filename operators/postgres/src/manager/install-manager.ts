/**
 * Copies this program into a volume, so that an image of PostgreSQL can run it: the Node that runs here with
 * the libraries that it uses, and the compiled files of this package. The manager imports nothing else.
 */
import { chmodSync, copyFileSync, cpSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { archiveScript, archiveScriptName } from "./archive-command.ts";

const folders = ["instance", "kind", "manager"] as const;
const executable = 0o755;

/** The loader of the libraries has this name in the volume: images of PostgreSQL have others, or none. */
export const loader = "ld.so";

export function installManager(target: string): void {
  const program = fileURLToPath(new URL("..", import.meta.url));
  copyExecutable(process.execPath, join(target, "node"));
  copyLibraries(join(target, "lib"));
  for (const folder of folders) cpSync(join(program, folder), join(target, "program", folder), { recursive: true });
  writeFileSync(join(target, archiveScriptName), archiveScript, { mode: executable });
  writeFileSync(join(target, "program", "package.json"), JSON.stringify({ type: "module" }));
}

function copyLibraries(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const { sharedObjects } = process.report.getReport() as { readonly sharedObjects: readonly string[] };
  for (const path of sharedObjects.filter((each) => each.startsWith("/")))
    copyExecutable(path, join(folder, basename(path).startsWith("ld-linux") ? loader : basename(path)));
}

function copyExecutable(from: string, to: string): void {
  copyFileSync(realpathSync(from), to);
  chmodSync(to, executable);
}
