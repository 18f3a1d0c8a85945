/**
 * Two folders of a package that import each other are one subject in two places. The files beside the folders
 * are no folder: some are a foundation, and some assemble the package. Neither is the `index.ts` of a folder,
 * which lists what an entry of the package exports.
 */
import type { SourceFile } from "./source-files.ts";

const form = /^((?:packages|operators)\/[^/]+\/src\/)([^/]+)\/.+$/;

/** One line for each pair, with an import of each direction. */
export function mutualFolderProblems(files: readonly SourceFile[]): readonly string[] {
  const edges = new Map<string, string>();
  for (const { path, imports, isTest } of files) {
    const from = folderOf(path);
    if (isTest || from === undefined || path.endsWith("/index.ts")) continue;
    for (const target of imports) {
      const to = folderOf(target);
      if (to === undefined || to.base !== from.base || to.folder === from.folder) continue;
      edges.set(keyOf(from.base, from.folder, to.folder), `${path} imports ${target}`);
    }
  }
  return [...edges].flatMap(([key, example]) => {
    const [base = "", first = "", second = ""] = key.split(" ");
    const back = edges.get(keyOf(base, second, first));
    if (back === undefined || first > second) return [];
    return [`${base}: the folders "${first}" and "${second}" import each other: ${example}, and ${back}`];
  });
}

function keyOf(base: string, from: string, to: string): string {
  return `${base} ${from} ${to}`;
}

function folderOf(path: string): { readonly base: string; readonly folder: string } | undefined {
  const [, base, folder] = form.exec(path) ?? [];
  return base === undefined || folder === undefined ? undefined : { base, folder };
}
