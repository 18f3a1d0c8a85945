import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { decodeYamlText, isSetpointError, SetpointError, messageOf } from "@setpoint/apimachinery";
import { systemHost } from "@setpoint/host/system";
import type { Operator } from "setpoint";
import { httpHook, readOperator, systemPrograms } from "setpoint/hook";
import { isOperator } from "setpoint/process";
import { usageError } from "./command.ts";
import { findReleaseOperator, releaseOperators } from "./release/release-operators.ts";
import { yamlDocuments } from "./yaml-documents.ts";

/**
 * The operator that a module exports as default, or that a YAML file declares, or one of this release by its
 * name; `verb` completes the sentence that says why not. Throws `ERR_USAGE`.
 */
export async function loadOperator(file: string | undefined, verb: string): Promise<Operator> {
  const path = operatorPath(file, verb);
  if (isDeclaration(path)) return declaredOperator(path);
  const module = await importModule(path, `Cannot ${verb} "${file}"`);
  if (isOperator(module.default)) return module.default;
  const problem = "default" in module ? "its default export is not an operator" : "it has no default export";
  throw new SetpointError(
    usageError,
    `Cannot ${verb} "${file}": ${problem}; write \`export default defineOperator({ … })\``,
  );
}

/**
 * The absolute path of a file that may hold an operator, or of the module of an operator of this release;
 * `verb` as above. Throws `ERR_USAGE`.
 */
export function operatorPath(file: string | undefined, verb: string): string {
  if (file === undefined) {
    throw new SetpointError(usageError, `Cannot ${verb} an operator: the file that exports it is missing`);
  }
  const path = resolve(file);
  const ofRelease = findReleaseOperator(file);
  if (ofRelease !== undefined) return ofRelease.module;
  if (!existsSync(path)) throw new SetpointError(usageError, `Cannot ${verb} "${file}": no such file${known(file)}`);
  if (isDeclaration(path) || /\.[cm]?[jt]s$/.test(path)) return path;
  throw new SetpointError(
    usageError,
    `Cannot ${verb} "${file}": expected a module (.ts, .js, .mts, .mjs) that exports an operator, or a YAML file that declares one`,
  );
}

/** What looks like a name is not a file of which the ending was forgotten. */
function known(text: string): string {
  const names = releaseOperators().map(({ name }) => name);
  return /^[a-z0-9-]+$/.test(text) ? `, and no operator of this release; it has ${names.join(", ")}` : "";
}

function isDeclaration(path: string): boolean {
  return /\.ya?ml$/.test(path);
}

async function importModule(path: string, cannot: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  } catch (error) {
    // What the framework refuses says by itself what is wrong.
    if (isSetpointError(error)) throw error;
    const place = error instanceof Error ? placeOf(error, path) : undefined;
    const why = messageOf(error);
    const where = place === undefined ? "" : ` (${place})`;
    throw new SetpointError("ERR_OPERATOR_NOT_LOADED", `${cannot}: the import failed: ${why}${where}`);
  }
}

/**
 * Where an error of the author's own code came from, in this file if it passed through it; the rest of a
 * stack is Node's and ours.
 */
function placeOf({ stack = "" }: Error, path: string): string | undefined {
  const places = [...stack.matchAll(/(?:^|file:\/\/|\(|at )(\/[^():\n]+):(\d+)/gm)]
    .map(([, file = "", line = ""]) => ({ file: decodeURIComponent(file), line }))
    .filter(({ file }) => !ownFolders.some((folder) => file.startsWith(folder)));
  const place = places.find(({ file }) => file === path) ?? places[0];
  return place === undefined ? undefined : `${place.file}:${place.line}`;
}

const ownFolders = [".", "../bin/"].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

/** Its programs run in the folder of the file, so that what it names lies beside it. */
function declaredOperator(path: string): Operator {
  const { clock } = systemHost({ write: () => {} });
  return readOperator(documentsOf(path), {
    file: path,
    programs: systemPrograms({ clock, folder: dirname(path) }),
    connect: (url, timeoutMs) => httpHook(url, { clock, ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
  });
}

function documentsOf(path: string): readonly unknown[] {
  const bytes = readFileSync(path);
  try {
    return yamlDocuments(decodeYamlText(bytes));
  } catch (error) {
    throw new SetpointError(usageError, `Cannot read "${path}": ${messageOf(error)}`);
  }
}
