/** The known word that a mistyped one most likely means. */

/** So many letters may be missing, added, changed or swapped. */
const editsMax = 2;

/** Undefined when no word is close. */
export function closestWord(given: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((word) => ({ word, edits: editsBetween(given, word) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [first] = ranked;
  // Of a short word two letters are nearly all.
  return first !== undefined && first.edits <= Math.min(editsMax, given.length - 2) ? first.word : undefined;
}

/** Levenshtein's distance, one row at a time. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: Array.from(to).length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [at, other] of Array.from(to).entries()) {
      const changed = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
