/** Forms of code whose functions V8 puts among the old objects, with all that they hold; see decisions/0014. */
import { packageFolderOf } from "./package-levels.ts";
import type { SourceFile } from "./source-files.ts";

const longLived: readonly (readonly [RegExp, string])[] = [
  [
    /^ +[\w.#]+\.#?\w+ (\?\?)?= (async )?(\([^()]*\)|\w+)(: [^=\n]+)? =>/m,
    "assigns a function to a property; initialize a field with it, or hand it over",
  ],
  [/^ +.*\bfunction\*/m, "makes a generator function at each call; move it out"],
  [/^ +(return )?class \w/m, "makes a class at each call; move it out"],
];

/** One line for each such form. */
export function lifetimeProblems(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path, isTest }) => packageFolderOf(path) !== undefined && !isTest)
    .flatMap(({ path, text }) =>
      longLived.flatMap(([form, what]) => {
        const found = form.exec(text);
        if (found === null) return [];
        return [`${path}:${text.slice(0, found.index).split("\n").length}: ${what} (decisions/0014)`];
      }),
    );
}
