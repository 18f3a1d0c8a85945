/** Object literals inherit `constructor` and its like, and a client may name them. */
import type { SourceFile } from "./source-files.ts";

const form = /^(export )?const (\w+): (Readonly<)?Record<string[^=\n]* = \{/m;
const serverSide = /^packages\/(apimachinery|schema|apiserver|controllers)\/src\//;

/** One line for each file whose table of names a client's text could index. */
export function inheritingTableProblems(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text, isTest }) => {
    const name = serverSide.test(path) && !isTest ? form.exec(text)?.[2] : undefined;
    if (name === undefined || name.endsWith("Headers")) return [];
    return [`${path}: "${name}" finds what objects inherit; make it with lookupTable of @setpoint/apimachinery`];
  });
}
