/** DESIGN 2: a package depends only on packages of lower levels, and on those that its manifest lists. */
import { readFileSync } from "node:fs";
import type { SourceFile } from "./source-files.ts";

export const levels: Readonly<Record<string, number>> = {
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
  "packages/data-service": 5,
  "packages/testing": 6,
  "packages/cli": 6,
  "operators/etcd": 7,
  "operators/postgres": 7,
  "operators/prometheus": 7,
  "operators/hateful-set": 7,
  "operators/key-value": 7,
  "operators/append-log": 7,
  "operators/compliance-probe": 7,
};

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifests = new Map(
  Object.keys(levels).map((folder) => [folder, JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as Manifest]),
);
const folderOf = new Map([...manifests].map(([folder, manifest]) => [manifest.name, folder]));

/** The folder of the package that a file belongs to. */
export function packageFolderOf(path: string): string | undefined {
  return Object.keys(levels).find((folder) => path.startsWith(`${folder}/`));
}

/** One line for each dependency and each import that leads upwards, sideways or past a package's entry. */
export function packageLevelProblems(files: readonly SourceFile[]): readonly string[] {
  const ofManifests = [...manifests].flatMap(([folder, { dependencies = {} }]) =>
    Object.keys(dependencies).flatMap((name) => dependencyProblems(folder, name)),
  );
  return [...ofManifests, ...files.flatMap(importProblems)];
}

function dependencyProblems(folder: string, name: string): readonly string[] {
  const target = folderOf.get(name);
  if (target === undefined || isBelow(target, folder)) return [];
  return [`${folder} (level ${levels[folder]}) must not depend on ${target} (level ${levels[target]})`];
}

function importProblems({ path, text, isTest }: SourceFile): readonly string[] {
  const folder = packageFolderOf(path);
  if (folder === undefined) return [];
  return [...text.matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)].flatMap(([, specifier = ""]) => {
    if (specifier.startsWith(".")) return leaves(path, folder, specifier);
    const [scope = "", name = ""] = specifier.split("/");
    const target = folderOf.get(scope.startsWith("@") ? `${scope}/${name}` : scope);
    const mayReachUp = isTest || path.includes("/testing/");
    if (target === undefined || target === folder || mayReachUp || isBelow(target, folder)) return [];
    return [`${path}: imports ${specifier}, which is not on a lower level`];
  });
}

function leaves(path: string, folder: string, specifier: string): readonly string[] {
  const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
  if (target.startsWith(`${folder}/`)) return [];
  return [`${path}: "${specifier}" leaves the package; import it by the package's name`];
}

function isBelow(target: string, folder: string): boolean {
  return (levels[target] ?? 0) < (levels[folder] ?? 0);
}
