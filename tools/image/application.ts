/**
 * Collects what a workspace package needs at run time: its own build and, recursively, that of everything it
 * depends on.
 *
 *     node --conditions=@setpoint/source tools/image/application.ts PACKAGE TARGET
 */
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Lays the packages out under `target/node_modules`, as an installation from a registry would. Needs a build
 * (`tsc -b`).
 */
export function collectApplication(packageName: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  const seen = new Set<string>();
  const add = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const source = realpathSync(join(root, "node_modules", name));
    const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
    copyPackage(source, join(target, "node_modules", name));
    for (const dependency of Object.keys(manifest.dependencies ?? {})) add(dependency);
    // Native add-ons come as one package a platform, of which npm has installed this machine's.
    for (const optional of Object.keys(manifest.optionalDependencies ?? {}))
      if (existsSync(join(root, "node_modules", optional))) add(optional);
  };
  add(packageName);
}

/** Of our own packages only what is published goes along: the manifest, the build and data. */
function copyPackage(source: string, target: string): void {
  const isOwn = !source.includes("/node_modules/");
  mkdirSync(dirname(target), { recursive: true });
  // With their times, by which an image is known to be the same as before.
  const options = { recursive: true, preserveTimestamps: true };
  if (!isOwn) return cpSync(source, target, { ...options, filter: (path) => !/\.(map|md|cts|d\.ts)$/.test(path) });
  for (const part of ["package.json", "dist", "data"]) {
    const from = join(source, part);
    if (existsSync(from))
      cpSync(from, join(target, part), { ...options, filter: (path) => !/\.(map|d\.ts|tsbuildinfo)$/.test(path) });
  }
}

if (import.meta.main) {
  const [packageName, target] = process.argv.slice(2);
  if (packageName === undefined || target === undefined) {
    console.error("Usage: application.ts PACKAGE TARGET");
    process.exitCode = 2;
  } else {
    collectApplication(packageName, target);
  }
}
