/** The lines in which two short texts differ, as `diff -u` shows them, without its headers. */
import { structuredPatch } from "diff";

/** Lines around a change that are shown. */
const context = 2;

export function lineDiff(before: string, after: string): string {
  const { hunks } = structuredPatch("", "", before, after, undefined, undefined, { context });
  const lines = hunks.flatMap((hunk) => hunk.lines).filter((line) => !line.startsWith("\\"));
  return lines.map((line) => `${line}\n`).join("");
}
