/**
 * What the scaffold of a project was: an upgrade merges what has changed since then in the scaffold and in
 * the project.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, SetpointError } from "@setpoint/apimachinery";
import { usageError } from "../command.ts";
import { writeText } from "../write-text.ts";

export interface ScaffoldRecord {
  /** The version of setpoint that wrote it. */
  readonly version: string;
  /** The name of the operator. */
  readonly name: string;
  /** The files as they were generated, text by path. */
  readonly files: ReadonlyMap<string, string>;
}

/** Committed with the project; an author has no need to look into it. */
export const recordPath = ".scaffold.json";

export function writeRecord(directory: string, { version, name, files }: ScaffoldRecord): void {
  const text = JSON.stringify({ version, name, files: Object.fromEntries(files) }, undefined, 2);
  writeText("the record of the scaffold", join(directory, recordPath), `${text}\n`);
}

/** Throws `ERR_USAGE`. */
export function readRecord(directory: string): ScaffoldRecord {
  const path = join(directory, recordPath);
  const cannot = `Cannot upgrade the project in "${directory}"`;
  if (!existsSync(path))
    throw new SetpointError(
      usageError,
      `${cannot}: it has no ${recordPath}, which \`setpoint create operator\` writes`,
    );
  const record = parse(readFileSync(path, "utf8"));
  if (record === undefined)
    throw new SetpointError(usageError, `${cannot}: its ${recordPath} cannot be read; restore it from version control`);
  return record;
}

function parse(text: string): ScaffoldRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || !isJsonObject(value["files"])) return undefined;
  const { version, name } = value;
  const files = Object.entries(value["files"]).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  if (typeof version !== "string" || typeof name !== "string") return undefined;
  return { version, name, files: new Map(files) };
}
