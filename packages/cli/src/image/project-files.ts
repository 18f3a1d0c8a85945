/**
 * What of an author's project goes into its image: its own files and the packages that it needs at run time.
 */
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";

interface Manifest {
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The nearest folder above a file that has a `package.json`. */
export function projectOf(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, "package.json"))) {
    if (folder === dirname(folder))
      throw new SetpointError("ERR_IMAGE_BUILD", `Cannot build an image of "${file}": no package.json above it`);
    folder = dirname(folder);
  }
  return folder;
}

/** The program of the command below the project's folder, as `npm install` has put it there. */
export function commandOf(project: string): string {
  const setpoint = join(project, "node_modules", "setpoint");
  const program = existsSync(setpoint) ? manifestOf(setpoint).bin?.["setpoint"] : undefined;
  if (program === undefined) {
    const why = 'the package "setpoint" is not installed in it; run npm install there';
    throw new SetpointError("ERR_IMAGE_BUILD", `Cannot build an image of the project in "${project}": ${why}`);
  }
  return join("node_modules", "setpoint", program);
}

/**
 * Copies the project into a folder, without hidden files, `node_modules` of development and `leftOut`,
 * absolute paths.
 */
export function copyProject(project: string, target: string, leftOut: ReadonlySet<string>): void {
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(project)) {
    const path = join(project, name);
    if (isOwnFile(path, leftOut)) {
      cpSync(path, join(target, name), { recursive: true, filter: (each) => isOwnFile(each, leftOut) });
    }
  }
  for (const folder of runtimePackages(project)) {
    const to = join(target, relative(project, folder));
    const own = join(folder, "node_modules");
    // Nested packages are copied by themselves, when they are needed.
    cpSync(folder, to, { recursive: true, dereference: true, filter: (each) => each !== own });
  }
}

function isOwnFile(path: string, leftOut: ReadonlySet<string>): boolean {
  const name = basename(path);
  return !name.startsWith(".") && name !== "node_modules" && !leftOut.has(path);
}

/** The folders of the project's dependencies and of theirs, found as Node finds them. */
function runtimePackages(project: string): ReadonlySet<string> {
  const found = new Set<string>();
  const addDependencies = (folder: string): void => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(folder);
    const optional = { ...optionalDependencies, ...peerDependencies };
    for (const name of Object.keys({ ...optional, ...dependencies })) {
      const path = findPackage(name, folder, project);
      if (path === undefined) {
        if (name in optional) continue;
        const why = `its dependency "${name}" is not installed; run npm install there`;
        throw new SetpointError("ERR_IMAGE_BUILD", `Cannot build an image of the project in "${project}": ${why}`);
      }
      if (found.has(path)) continue;
      found.add(path);
      addDependencies(path);
    }
  };
  addDependencies(project);
  return found;
}

function findPackage(name: string, from: string, project: string): string | undefined {
  const path = join(from, "node_modules", name);
  if (existsSync(path)) return path;
  return from === project ? undefined : findPackage(name, dirname(from), project);
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Copies what a path leads to, to `at` below `root`. */
export function copyFile(path: string, root: string, at: string = path): void {
  const to = join(root, at);
  mkdirSync(dirname(to), { recursive: true });
  cpSync(lstatSync(path).isSymbolicLink() ? realpathSync(path) : path, to);
}
