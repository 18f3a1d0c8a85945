/** Functions fit the screen. Measured over all sources but tests and generated types. */
import { parseSync } from "oxc-parser";
import type { SourceFile } from "./source-files.ts";

/** Lines of a function with a block body, its signature and closing brace included. */
const medianMax = 9;
const ninetiethPercentileMax = 40;
const functionTypes: ReadonlySet<unknown> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

/** One line for each figure that is above its limit. */
export function functionLengthProblems(files: readonly SourceFile[]): readonly string[] {
  const lengths = files
    .filter(isMeasured)
    .flatMap(functionLengths)
    .toSorted((a, b) => a - b);
  const median = quantile(lengths, 0.5);
  const ninetieth = quantile(lengths, 0.9);
  return [
    ...(median > medianMax ? [`functions: the median has ${median} lines, expected at most ${medianMax}`] : []),
    ...(ninetieth > ninetiethPercentileMax
      ? [`functions: one in ten has ${ninetieth} lines or more, expected at most ${ninetiethPercentileMax}`]
      : []),
  ];
}

function isMeasured({ path, isTest }: SourceFile): boolean {
  return /^(packages|operators)\//.test(path) && !path.startsWith("packages/api/") && !isTest;
}

function functionLengths({ path, text }: SourceFile): readonly number[] {
  const lengths: number[] = [];
  collect(parseSync(path, text).program);
  return lengths;

  function collect(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    const { type, body, start, end } = node as { type?: unknown; body?: unknown; start?: number; end?: number };
    if (functionTypes.has(type) && (body as { type?: unknown } | null)?.type === "BlockStatement")
      lengths.push(text.slice(start, end).split("\n").length);
    for (const child of Object.values(node)) collect(child);
  }
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}
