/**
 * The engines of test show how little an engine of data-service needs, so they stay small: what every engine
 * would write belongs into packages/data-service.
 */
import type { SourceFile } from "./source-files.ts";

/** How many lines the files in a folder may have, without its own folders, tests and their models. */
interface EngineFolder {
  readonly folder: string;
  readonly linesMax: number;
}

const engines: readonly EngineFolder[] = [
  { folder: "operators/key-value/src/", linesMax: 299 },
  { folder: "operators/append-log/src/", linesMax: 599 },
  // The server itself, which an engine for users does not write.
  { folder: "operators/append-log/src/server/", linesMax: 499 },
];

/** One line for each engine of test that has grown too large. */
export function engineSizeProblems(files: readonly SourceFile[]): readonly string[] {
  return engines.flatMap(({ folder, linesMax }) => {
    const sources = files.filter(({ path, isTest }) => !isTest && isDirectlyIn(path, folder));
    const lines = sources.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
    if (lines <= linesMax) return [];
    return [`${folder}: ${lines} lines, at most ${linesMax}; move what every engine needs to packages/data-service`];
  });
}

function isDirectlyIn(path: string, folder: string): boolean {
  return path.startsWith(folder) && !path.slice(folder.length).includes("/");
}
