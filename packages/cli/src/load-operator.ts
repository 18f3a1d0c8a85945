import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SetpointError } from "@setpoint/apimachinery";
import type { Operator } from "setpoint";
import { isOperator } from "setpoint/process";
import { usageError } from "./command.ts";

/** The operator that a module exports as default; `verb` completes the sentence that says why not. Throws `ERR_USAGE`. */
export async function loadOperator(file: string | undefined, verb: string): Promise<Operator> {
  if (file === undefined) {
    throw new SetpointError(usageError, `Cannot ${verb} an operator: the file that exports it is missing`);
  }
  const path = resolve(file);
  if (!existsSync(path)) throw new SetpointError(usageError, `Cannot ${verb} "${file}": there is no such file`);
  const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  if (isOperator(module.default)) return module.default;
  const wanted = "its default export is not an operator; export default defineOperator({ … })";
  throw new SetpointError(usageError, `Cannot ${verb} "${file}": ${wanted}`);
}
