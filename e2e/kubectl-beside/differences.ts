/** What a story prints here and does not on the genuine cluster, and the other way round, line by line. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Story } from "./story.ts";

export interface KnownDifference {
  /** Texts of which the command has one. */
  readonly commands: readonly string[];
  /** A regular expression on the lines that differ. */
  readonly line: string;
  readonly reason: string;
  /** Whether ours should print what the genuine one prints, and does not yet. */
  readonly isOpen?: boolean;
  /** It depends on how fast something was. */
  readonly isRare?: boolean;
}

export interface FoundDifference {
  readonly story: string;
  readonly command: string;
  /** `-` and a line that only the genuine cluster prints, `+` and one that only ours does. */
  readonly line: string;
}

export function readKnown(): readonly KnownDifference[] {
  const text = readFileSync(new URL("differences.yaml", import.meta.url), "utf8");
  return (parse(text) as readonly KnownDifference[] | null) ?? [];
}

export function isKnown(known: KnownDifference, { command, line }: FoundDifference): boolean {
  return known.commands.some((each) => command.includes(each)) && new RegExp(known.line).test(line);
}

/** `genuine` and `ours` have the same commands. */
export function compareStories(genuine: Story, ours: Story): readonly FoundDifference[] {
  return genuine.steps.flatMap(({ command, output }, i) =>
    differingLines(output, ours.steps[i]?.output ?? []).map((line) => ({ story: genuine.name, command, line })),
  );
}

/** The lines that are not in the longest common subsequence. */
export function differingLines(before: readonly string[], after: readonly string[]): readonly string[] {
  const common = commonLengths(before, after);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const isSame = i < before.length && j < after.length && before[i] === after[j];
    const skip = common[i + 1]?.[j] ?? -1;
    if (isSame) [i, j] = [i + 1, j + 1];
    else if (i < before.length && skip >= (common[i]?.[j + 1] ?? -1)) lines.push(`-${before[i++]}`);
    else lines.push(`+${after[j++]}`);
  }
  return lines;
}

/** `[i][j]`: of the lines from i and from j on. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly (readonly number[])[] {
  const rows: number[][] = [Array.from({ length: after.length + 1 }, () => 0)];
  for (const line of before.toReversed()) {
    const below = rows[0] ?? [];
    const row = [0];
    for (let j = after.length - 1; j >= 0; j--)
      row.unshift(line === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[0] ?? 0));
    rows.unshift(row);
  }
  return rows;
}
