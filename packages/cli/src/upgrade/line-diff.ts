/** The lines in which two short texts differ, as `diff -u` shows them, without its headers. */

/** Lines around a change that are shown. */
const contextLines = 2;

interface Line {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

export function lineDiff(before: string, after: string): string {
  const lines = compare(
    before === "" ? [] : before.trimEnd().split("\n"),
    after === "" ? [] : after.trimEnd().split("\n"),
  );
  const changed = lines.map(({ mark }) => mark !== " ");
  const isNear = (index: number): boolean =>
    changed.slice(Math.max(0, index - contextLines), index + contextLines + 1).includes(true);
  return lines.flatMap(({ mark, text }, index) => (isNear(index) ? [`${mark}${text}\n`] : [])).join("");
}

/** By the longest common subsequence: quadratic, and files of a scaffold are short. */
function compare(a: readonly string[], b: readonly string[]): readonly Line[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]?.set([a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))], j);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left = "", right = ""] = [a[i], b[j]];
    if (i < a.length && j < b.length && left === right) [i, j] = [push(lines, " ", left, i + 1), j + 1];
    else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) i = push(lines, "-", left, i + 1);
    else j = push(lines, "+", right, j + 1);
  }
  return lines;
}

function push(lines: Line[], mark: Line["mark"], text: string, next: number): number {
  lines.push({ mark, text });
  return next;
}
