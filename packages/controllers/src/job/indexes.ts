/** Completion indexes as a status writes them: "1,3-5,7". */

export function parseIndexes(text: string | undefined): ReadonlySet<number> {
  const parts = (text ?? "").split(",").filter((part) => part !== "");
  return new Set(
    parts.flatMap((part) => {
      const [first = 0, last = first] = part.split("-").map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    }),
  );
}

export function formatIndexes(indexes: ReadonlySet<number>): string {
  const ranges: [number, number][] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range !== undefined && index === range[1] + 1) range[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([first, last]) => rangeText(first, last)).join(",");
}

/** Two neighbours are listed; three and more are a range. */
function rangeText(first: number, last: number): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}
