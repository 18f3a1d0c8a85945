/**
 * The five rooms of an operator, the same in each (decisions/0043): a file imports only its own room and
 * those to its left. So `seen` cannot hold a decision, because it cannot reach the code that decides.
 */
import type { SourceFile } from "./source-files.ts";

const rooms = ["kind", "seen", "observe", "plan", "act"];
const form = /^(operators\/[^/]+\/src\/)([^/]+)\//;

/** One line for each import to the right. Tests may use every room. */
export function operatorRoomProblems(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ isTest }) => !isTest).flatMap(problemsOf);
}

function problemsOf({ path, imports }: SourceFile): readonly string[] {
  const [, base = "", room = ""] = form.exec(path) ?? [];
  const own = rooms.indexOf(room);
  if (own === -1) return [];
  const right = rooms.slice(own + 1).map((name) => `${base}${name}/`);
  return imports
    .filter((target) => right.some((folder) => target.startsWith(folder)))
    .map(
      (target) =>
        `${path}: imports ${target}; the rooms of an operator are ${rooms.join(" → ")}, and "${room}" reads only to its left (decisions/0043)`,
    );
}
