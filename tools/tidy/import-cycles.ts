/**
 * Import cycles, type-only imports included: files of a cycle cannot be read, moved or tested one at a time.
 */
import type { SourceFile } from "./source-files.ts";

/** One line for each cycle: a shortest way from its first file back to itself. */
export function importCycleProblems(files: readonly SourceFile[]): readonly string[] {
  const graph = new Map(files.map(({ path, imports }) => [path, imports]));
  const reported = new Set<string>();
  const problems: string[] = [];
  for (const { path } of files) {
    const cycle = reported.has(path) ? undefined : shortestCycle(path, graph);
    if (cycle === undefined) continue;
    for (const each of cycle) reported.add(each);
    problems.push(`import cycle: ${[...cycle, path].join(" → ")}`);
  }
  return problems;
}

/** A breadth-first search for the way back to `start`. */
function shortestCycle(start: string, graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return pathTo(file, start, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      waiting.push(next);
    }
  }
  return undefined;
}

function pathTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const path = [end];
  for (let file = end; file !== start;) {
    file = cameFrom.get(file) ?? start;
    path.unshift(file);
  }
  return path;
}
