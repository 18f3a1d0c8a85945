/** Comments are read in a narrow column: 110 characters a line, where code has 120. */
const widest = 110;

/** Sources that a program wrote: their comments are Kubernetes' own sentences. */
const generated = "packages/api/src/";

/** One line for each comment that is too wide. One code span alone may be wider. */
export function commentWidthProblems(
  files: readonly { readonly path: string; readonly text: string }[],
): readonly string[] {
  return files
    .filter(({ path }) => /\.(ts|mjs)$/.test(path) && !path.startsWith(generated))
    .flatMap(({ path, text }) =>
      text
        .split("\n")
        .flatMap((line, index) =>
          isTooWide(line)
            ? [`${path}:${index + 1}: a comment's line has ${line.length} columns, at most ${widest}`]
            : [],
        ),
    );
}

function isTooWide(line: string): boolean {
  const [, comment] = /^\s*(?:\/\/|\/?\*\*?) +(.*)$/.exec(line) ?? [];
  return comment !== undefined && line.length > widest && !/^`[^`]+`[.:,]?$/.test(comment);
}
