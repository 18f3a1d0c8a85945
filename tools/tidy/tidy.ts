/** Checks of our own house that no linter has: the ladder of packages, file names, and what must not be in a file. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";

/** DESIGN 2. A package may depend only on packages of lower levels. */
const levels: Readonly<Record<string, number>> = {
  "packages/apimachinery": 0,
  "packages/host": 0,
  "packages/schema": 1,
  "packages/api": 1,
  "packages/client": 2,
  "packages/apiserver": 2,
  "packages/runtime": 3,
  "packages/controllers": 4,
  "packages/process-node": 4,
  "packages/setpoint": 4,
  "packages/controlplane": 5,
  "packages/testing": 6,
  "packages/cli": 6,
  "operators/etcd": 7,
};

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Forms of code whose functions V8 puts among the old objects, with all that they hold; see decisions/0014. */
const longLived: readonly (readonly [RegExp, string])[] = [
  [
    /^ +[\w.#]+\.#?\w+ (\?\?)?= (async )?(\([^()]*\)|\w+)(: [^=\n]+)? =>/m,
    "assigns a function to a property; initialize a field with it, or hand it over",
  ],
  [/^ +.*\bfunction\*/m, "makes a generator function anew at each call; move it out"],
  [/^ +(return )?class \w/m, "makes a class anew at each call; move it out"],
];

/** Object literals inherit `constructor` and its like, and a client may name them. */
const inheritingTable = /^(export )?const (\w+): (Readonly<)?Record<string[^=\n]* = \{/m;
const serverSide = /^packages\/(apimachinery|schema|apiserver|controllers)\/src\//;

const problems: string[] = [];
const files = execFileSync("git", ["ls-files"], { encoding: "utf8" }).split("\n").filter(Boolean);
const manifests = new Map(
  Object.keys(levels).map((folder) => [folder, JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as Manifest]),
);
const folderOf = new Map([...manifests].map(([folder, manifest]) => [manifest.name, folder]));

for (const [folder, manifest] of manifests) checkLadder(folder, manifest);
for (const file of files) checkFile(file);

function checkLadder(folder: string, manifest: Manifest): void {
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const target = folderOf.get(name);
    if (target === undefined) continue;
    if ((levels[target] ?? 0) >= (levels[folder] ?? 0))
      problems.push(`${folder} (level ${levels[folder]}) must not depend on ${target} (level ${levels[target]})`);
  }
}

function checkLifetimes(file: string, text: string): void {
  for (const [form, what] of longLived) {
    const found = form.exec(text);
    if (found !== null)
      problems.push(`${file}:${text.slice(0, found.index).split("\n").length}: ${what} (decisions/0014)`);
  }
}

function checkTables(file: string, text: string): void {
  const name = serverSide.test(file) ? inheritingTable.exec(text)?.[2] : undefined;
  if (name !== undefined && !name.endsWith("Headers"))
    problems.push(`${file}: "${name}" finds what objects inherit; make it with lookupTable of @setpoint/apimachinery`);
}

function checkFile(file: string): void {
  if (/\/(utils?|helpers?|common|misc|types)(\/|\.ts$)/.test(file))
    problems.push(`${file}: the name says nothing; name it after its subject`);
  const base = file.split("/").at(-1) ?? "";
  if (file.endsWith(".ts") && !/^[a-z0-9.-]+$/.test(base)) problems.push(`${file}: file names are kebab-case`);
  if (!/\.(ts|mjs)$/.test(file)) return;
  const text = readFileSync(file, "utf8");
  const folder = Object.keys(levels).find((each) => file.startsWith(`${each}/`));
  for (const [, specifier = ""] of text.matchAll(/(?:from|import)\s*\(?"([^"]+)"/g))
    checkImport(file, folder, specifier);
  if (folder !== undefined && !/\.(test|fixture)\.ts$/.test(file)) {
    checkLifetimes(file, text);
    checkTables(file, text);
  }
  const words = new RegExp(["TO", "FIX"].map((half, i) => half + ["DO", "ME"][i]).join("|"));
  if (words.test(text)) problems.push(`${file}: do it now, or say it in an issue`);
}

function checkImport(file: string, folder: string | undefined, specifier: string): void {
  if (folder === undefined) return;
  if (specifier.startsWith(".")) {
    const path = new URL(specifier, `file:///${file}`).pathname.slice(1);
    if (!path.startsWith(`${folder}/`))
      problems.push(`${file}: "${specifier}" leaves the package; import it by the package's name`);
    return;
  }
  const name = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : (specifier.split("/")[0] ?? "");
  const target = folderOf.get(name);
  const isTest = /\.(test|test-d|scenario\.test)\.ts$/.test(file) || dirname(file).includes("testing");
  if (target === undefined || isTest || target === folder) return;
  if ((levels[target] ?? 0) >= (levels[folder] ?? 0))
    problems.push(`${file}: imports ${name}, which is not on a lower level`);
}

for (const problem of problems) console.error(problem);
console.log(`tidy: ${files.length} files, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
