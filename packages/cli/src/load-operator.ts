import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SetpointError } from "@setpoint/apimachinery";
import { systemHost } from "@setpoint/host/system";
import type { Operator } from "setpoint";
import { httpHook, readOperator, systemPrograms } from "setpoint/hook";
import { isOperator } from "setpoint/process";
import { parseAllDocuments } from "yaml";
import { usageError } from "./command.ts";

/**
 * The operator that a module exports as default, or that a YAML file declares; `verb` completes the sentence that says why not.
 * Throws `ERR_USAGE`.
 */
export async function loadOperator(file: string | undefined, verb: string): Promise<Operator> {
  if (file === undefined) {
    throw new SetpointError(usageError, `Cannot ${verb} an operator: the file that exports it is missing`);
  }
  const path = resolve(file);
  if (!existsSync(path)) throw new SetpointError(usageError, `Cannot ${verb} "${file}": there is no such file`);
  if (/\.ya?ml$/.test(path)) return declaredOperator(path);
  if (!/\.[cm]?[jt]s$/.test(path))
    throw new SetpointError(
      usageError,
      `Cannot ${verb} "${file}": wanted a module (.ts, .js, .mts, .mjs) that exports an operator, or a YAML file that declares one`,
    );
  const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  if (isOperator(module.default)) return module.default;
  const wanted = "its default export is not an operator; export default defineOperator({ … })";
  throw new SetpointError(usageError, `Cannot ${verb} "${file}": ${wanted}`);
}

/** Its programs run in the folder of the file, so that what it names lies beside it. */
function declaredOperator(path: string): Operator {
  const { clock } = systemHost({ write: () => {} });
  const documents = [...parseAllDocuments(readFileSync(path, "utf8"))].map((document) => {
    const [fault] = document.errors;
    // Its further lines show the text with a mark.
    const [what = ""] = fault?.message.split("\n") ?? [];
    if (fault !== undefined) throw new SetpointError(usageError, `Cannot read "${path}": ${what.replace(/:$/, "")}`);
    return document.toJS() as unknown;
  });
  return readOperator(documents, {
    programs: systemPrograms({ clock, folder: dirname(path) }),
    connect: (url, timeoutMs) => httpHook(url, { clock, ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
  });
}
