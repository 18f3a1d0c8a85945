/** Names of files, and words that belong in an issue. */

/** One line for each name that says nothing or is not kebab-case. */
export function fileNameProblems(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    if (/\/(utils?|helpers?|common|misc|types)(\/|\.ts$)/.test(path))
      return [`${path}: the name says nothing; name it after its subject`];
    const base = path.split("/").at(-1) ?? "";
    return path.endsWith(".ts") && !/^[a-z0-9.-]+$/.test(base) ? [`${path}: file names are kebab-case`] : [];
  });
}

/** One line for each file that leaves work for later. */
export function openWorkProblems(
  files: readonly { readonly path: string; readonly text: string }[],
): readonly string[] {
  const words = new RegExp(["TO", "FIX"].map((half, i) => half + ["DO", "ME"][i]).join("|"));
  return files
    .filter(({ path, text }) => /\.(ts|mjs)$/.test(path) && words.test(text))
    .map(({ path }) => `${path}: do it now, or say it in an issue`);
}
