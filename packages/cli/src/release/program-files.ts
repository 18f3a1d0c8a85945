/** The files of an npm package and of everything that it depends on, laid out for an image. */
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import type { ImageFile } from "@setpoint/process-node";

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Where each package goes, by path in the image. */
type Layout = Map<string, string>;

/** What our own packages have at run time; the rest is sources, documentation and templates. */
const ownParts = new Set(["package.json", "dist", "data", "lib", "operators"]);
/** Node runs no TypeScript below `node_modules`. */
const notForRunning = /\.([cm]?ts|map|md|tsbuildinfo)$/;

/**
 * The files of the package in `folder`, below `target/node_modules`. Packages are found as Node finds them,
 * whichever package manager has installed them. Throws `ERR_IMAGE_BUILD`.
 */
export function programFiles(folder: string, target: string): readonly ImageFile[] {
  const layout: Layout = new Map();
  place(realpathSync(folder), target, layout);
  return [...layout].flatMap(([to, from]) =>
    filesOf(from).map((path) => ({ from: join(from, path), to: join(to, path) })),
  );
}

/**
 * Lays a package out for its user, whose path in the image is `user`: in the outermost folder, or beside the
 * user when another version of it lies there.
 */
function place(folder: string, user: string, layout: Layout): void {
  const { name, dependencies = {}, optionalDependencies = {} } = manifestOf(folder);
  const visible = foldersAbove(user).map((each) => join(each, "node_modules", name));
  const isFree = visible.every((path) => (layout.get(path) ?? folder) === folder);
  const to = visible.at(isFree ? -1 : 0);
  if (to === undefined || layout.has(to)) return;
  layout.set(to, folder);
  for (const each of Object.keys({ ...optionalDependencies, ...dependencies })) {
    const found = findPackage(each, folder);
    // Native add-ons come as one package a platform, of which this machine has its own.
    if (found === undefined && each in optionalDependencies) continue;
    if (found === undefined) throw notInstalled(each, folder);
    place(found, to, layout);
  }
}

/** Where Node looks for the dependencies of a package, the nearest first. */
function foldersAbove(path: string): readonly string[] {
  const parts = path.split("/node_modules/");
  return parts.map((_, i) => parts.slice(0, parts.length - i).join("/node_modules/"));
}

function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(path)) return realpathSync(path);
    if (folder === dirname(folder)) return undefined;
  }
}

function notInstalled(name: string, folder: string): Error {
  const why = `its dependency "${name}" is not installed; install the package again`;
  return new SetpointError("ERR_IMAGE_BUILD", `Cannot build an image of "${folder}": ${why}`);
}

function filesOf(folder: string): readonly string[] {
  const { name } = manifestOf(folder);
  const isOwn = name === "setpoint" || name.startsWith("@setpoint/");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !notForRunning.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => {
      const parts = path.split(sep);
      return !parts.includes("node_modules") && (!isOwn || ownParts.has(parts[0] ?? ""));
    })
    .sort();
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}
