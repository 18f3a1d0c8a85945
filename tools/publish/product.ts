/**
 * The npm package `setpoint`: the builds of all workspace packages in one folder, with the command and the
 * entries of `packages/setpoint`.
 *
 *     lib/PACKAGE/dist/… the build of packages/PACKAGE, whose imports of other packages are relative paths
 *     lib/PACKAGE/… its data, templates and programs, at the places where its build looks for them
 *     operators/NAME/… the same of an operator that the command installs, and its manifests
 *     docs/…, examples/… pages and examples, at their places in the repository
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { copyPages } from "./product-pages.ts";

const root = new URL("../..", import.meta.url).pathname;

type Entries = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Entries;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  /** What the command installs of an operator. */
  readonly setpoint?: object;
}

interface Workspace {
  /** Its folder in the repository. */
  readonly source: string;
  /** Its folder in the npm package. */
  readonly folder: string;
  readonly manifest: Manifest;
}

const packages = readdirSync(join(root, "packages")).map((name) => workspaceAt(`packages/${name}`, `lib/${name}`));
const operators = readdirSync(join(root, "operators"))
  .map((name) => workspaceAt(`operators/${name}`, `operators/${name}`))
  .filter(({ manifest }) => manifest.setpoint !== undefined);
const workspaces: readonly Workspace[] = [...packages, ...operators];
const byName: ReadonlyMap<string, Workspace> = new Map(workspaces.map((each) => [each.manifest.name, each]));
/** Besides the build: what a package reads or starts at run time. */
const parts = ["bin", "data", "templates"];

/** Writes the package into an empty folder. The workspace must be built. */
export function assembleProduct(target: string): void {
  for (const workspace of workspaces) copyWorkspace(workspace, target);
  copyPages(target);
  writeFileSync(join(target, "package.json"), `${JSON.stringify(productManifest(), undefined, 2)}\n`);
}

function workspaceAt(source: string, folder: string): Workspace {
  const manifest = JSON.parse(readFileSync(join(root, source, "package.json"), "utf8")) as Manifest;
  return { source: join(root, source), folder, manifest };
}

function copyWorkspace({ source, folder, manifest }: Workspace, product: string): void {
  const target = join(product, folder);
  mkdirSync(target, { recursive: true });
  for (const part of parts) {
    if (existsSync(join(source, part))) cpSync(join(source, part), join(target, part), { recursive: true });
  }
  // The command reads its version and its operators here, and Node the kind of the modules.
  const { name, version, setpoint } = manifest;
  writeFileSync(join(target, "package.json"), `${JSON.stringify({ name, version, type: "module", setpoint })}\n`);
  for (const file of builtFiles(source)) {
    const path = join(target, "dist", file);
    mkdirSync(dirname(path), { recursive: true });
    const text = readFileSync(join(source, "dist", file), "utf8");
    writeFileSync(path, withRelativeImports(text, path, product));
  }
}

/** Modules and declarations whose source is still there: `tsc -b` leaves those of removed files behind. */
function builtFiles(source: string): readonly string[] {
  return readdirSync(join(source, "dist"), { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.(js|d\.ts)$/.test(file) && existsSync(join(source, "src", file.replace(/\.(js|d\.ts)$/, ".ts"))),
  );
}

/** An import of another workspace package; not in a comment. */
const imported = /^(?! *(?:\*|\/\/))(.*?\b(?:from |import |import\())"((?:@setpoint\/|setpoint)[^"]*)"/gm;

function withRelativeImports(text: string, path: string, product: string): string {
  return text
    .replace(imported, (_, before: string, specifier: string) => {
      const to = join(product, builtEntry(specifier));
      const from = relative(dirname(path), to);
      return `${before}"${from.startsWith(".") ? from : `./${from}`}"`;
    })
    .replace(/\n\/\/# sourceMappingURL=.*/, "");
}

/** The built file of an entry: `@setpoint/client/node` is `lib/client/dist/node/index.js`. */
function builtEntry(specifier: string): string {
  const parts = specifier.split("/");
  const name = parts.splice(0, specifier.startsWith("@") ? 2 : 1).join("/");
  const workspace = byName.get(name);
  const subpath = ["."].concat(parts).join("/");
  const entry = workspace?.manifest.exports[subpath] ?? workspace?.manifest.exports["./*"];
  if (workspace === undefined || entry === undefined) throw new Error(`Cannot pack: no package exports "${specifier}"`);
  return join(workspace.folder, (entry["default"] ?? "").replace("*", parts.join("/")));
}

function productManifest(): object {
  const { name, version, license, engines, exports } = workspaceOf("setpoint").manifest;
  return {
    name,
    version,
    description: "Kubernetes operators in TypeScript: framework, simulated world, embedded cluster, command.",
    license,
    type: "module",
    bin: { setpoint: "./lib/cli/bin/setpoint.mjs" },
    exports: { ...productEntries(exports), "./package.json": "./package.json" },
    dependencies: outsideDependencies(),
    engines,
  };
}

function workspaceOf(name: string): Workspace {
  const workspace = byName.get(name);
  if (workspace === undefined) throw new Error(`Cannot pack: there is no package "${name}"`);
  return workspace;
}

function productEntries(entries: Entries): Entries {
  const inProduct = (path = ""): string => `./lib/setpoint/${path.slice(2)}`;
  return Object.fromEntries(
    Object.entries(entries).map(([subpath, entry]) => [
      subpath,
      { types: inProduct(entry["types"]), default: inProduct(entry["default"]) },
    ]),
  );
}

/** What the workspace packages need from the registry. */
function outsideDependencies(): Readonly<Record<string, string>> {
  const all = workspaces.flatMap(({ manifest }) => Object.entries(manifest.dependencies ?? {}));
  return Object.fromEntries(all.filter(([name]) => !byName.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
