/**
 * The engine of test shows how little an engine of data-service needs, so it stays small: what every engine
 * would write belongs into packages/data-service.
 */
import type { SourceFile } from "./source-files.ts";

const folder = "operators/key-value/src/";
/** Its files, and none of its folder with models for tests. */
const sourceForm = /^operators\/key-value\/src\/[^/]+$/;
/** Lines of source without tests and their models. */
const linesMax = 299;

/** One line when the engine has grown too large. */
export function engineSizeProblems(files: readonly SourceFile[]): readonly string[] {
  const sources = files.filter(({ path, isTest }) => !isTest && sourceForm.test(path));
  const lines = sources.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
  if (lines <= linesMax) return [];
  return [`${folder}: ${lines} lines, at most ${linesMax}; move what every engine needs to packages/data-service`];
}
