/** What pg_upgrade says when it fails, for a person who reads it in a status; pure. */

const problemMax = 600;
const listedLinesMax = 5;
/** A file that names what is wrong, or what a program said. */
const named = /^\s+(\/\S+\.(?:txt|log))$|"(\/\S+\.(?:txt|log))"/gm;

/** `readFile` has the text of a file that the output names; undefined when there is none. */
export function upgradeProblem(output: string, readFile: (path: string) => string | undefined): string {
  const failed = output.slice(Math.max(0, failureStart(output)));
  const files = [...failed.matchAll(named)].map(([, listed, quoted]) => listed ?? quoted ?? "");
  const listed = [...new Set(files)].flatMap((path) => linesOf(readFile(path) ?? "", path.endsWith(".log")));
  const said = failed
    .split("\n")
    .map((line) => line.trim().replaceAll(/\s+/g, " "))
    .filter((line) => line !== "" && !isNoise(line))
    .join(" ");
  return [said.slice(0, problemMax), listed.join("; ").slice(0, problemMax)].filter((each) => each !== "").join(" ");
}

/** What passed before is of no interest. */
function failureStart(output: string): number {
  const lastPassed = output.lastIndexOf(" ok\n");
  return lastPassed === -1 ? 0 : lastPassed + " ok\n".length;
}

/** The list has the names first; of a log, the end counts. */
function linesOf(text: string, isLog: boolean): readonly string[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return isLog ? lines.slice(-listedLinesMax) : lines.slice(0, listedLinesMax);
}

function isNoise(line: string): boolean {
  return (
    /^\/\S+$|^Failure, exiting$|^-+$|^Performing|is in the file:$|^Consult the last few lines of/.test(line) ||
    /^"\/\S+" for the probable cause/.test(line)
  );
}
