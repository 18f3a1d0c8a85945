/** The command `setpoint postgres`: manifests of CloudNativePG become ours. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { adopt } from "./adopt/adopt.ts";
import { differenceText } from "./adopt/difference.ts";
import { InputRefused } from "./adopt/fields.ts";
import { manifestText, readManifests } from "./adopt/manifest-text.ts";

/** Where a command writes to. */
export interface ToolOutput {
  out(text: string): void;
  err(text: string): void;
}

const page = "What changes without a field, and how to move the data: docs/postgres-from-cnpg.md";

/** The manifests go to `out`, what differs goes to `err`. Resolves to the exit code: 1 for other input. */
export default async function tool(
  args: readonly string[],
  output: ToolOutput,
  readInput: () => string = () => readFileSync(0, "utf8"),
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { namespace: { type: "string" }, import: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const [verb, ...paths] = positionals;
  if (verb !== "adopt" || paths.length === 0)
    throw new Error("Cannot run the command: expected adopt FILE…, or - for standard input");
  const { namespace } = values;
  const options = { isImporting: values.import, ...(namespace === undefined ? {} : { namespace }) };
  try {
    const textOf = (path: string): string => (path === "-" ? readInput() : fileText(path));
    const { objects, differences } = adopt(
      paths.flatMap((path) => readManifests(textOf(path), path)),
      options,
    );
    for (const object of objects) output.out(manifestText(object));
    for (const difference of differences) output.err(`${differenceText(difference)}\n`);
    output.err(`${page}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof InputRefused)) throw error;
    output.err(`${error.message}\n`);
    return 1;
  }
}

function fileText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Error(`Cannot read "${path}": expected a file that exists and can be read`, { cause });
  }
}
