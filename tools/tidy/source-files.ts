/** The repository's TypeScript files and what each imports, by path from the root. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { posix } from "node:path";

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** The imports that name a file of this repository, type-only imports and re-exports included. */
  readonly imports: readonly string[];
  /** Tests and fixtures may use later folders. */
  readonly isTest: boolean;
}

/** The two fields of a package.json that lead from a package's name to its sources. */
interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const importForms = /^(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"|^import\s+"([^"]+)"/gm;
const testForms = /\.(test|test-d|fixture)\.ts$/;

/** All files that git tracks. */
export function trackedFiles(): readonly string[] {
  return execFileSync("git", ["ls-files"], { encoding: "utf8" }).split("\n").filter(Boolean);
}

/** Reads the sources and pages among `files`. */
export function readTextFiles(files: readonly string[]): readonly { readonly path: string; readonly text: string }[] {
  return files
    .filter((path) => /\.(ts|mjs|md)$/.test(path))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
}

/** Reads the TypeScript files among `files` and resolves their imports. */
export function readSourceFiles(files: readonly string[]): readonly SourceFile[] {
  const entries = packageEntries(files);
  return files
    .filter((path) => path.endsWith(".ts"))
    .map((path) => {
      const text = readFileSync(path, "utf8");
      return { path, text, imports: importsOf(path, text, entries), isTest: testForms.test(path) };
    });
}

/**
 * The source of each entry of each package: "@setpoint/client/node" → "packages/client/src/node/index.ts".
 */
function packageEntries(files: readonly string[]): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const file of files) {
    if (!/^(packages|operators)\/[^/]+\/package\.json$/.test(file)) continue;
    const { name, exports = {} } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
    for (const [subpath, conditions] of Object.entries(exports)) {
      const source = conditions["@setpoint/source"];
      if (source !== undefined) entries.set(posix.join(name, subpath), posix.join(posix.dirname(file), source));
    }
  }
  return entries;
}

function importsOf(path: string, text: string, entries: ReadonlyMap<string, string>): readonly string[] {
  const found: string[] = [];
  for (const [, from, bare] of text.matchAll(importForms)) {
    const specifier = from ?? bare ?? "";
    const target = specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : entries.get(specifier);
    if (target !== undefined) found.push(target);
  }
  return found;
}
