/** Brings a project that `setpoint create operator` made to the scaffold of this version. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import { usageError } from "../command.ts";
import { ownVersion } from "../own-version.ts";
import { parseOperatorName } from "../create/operator-words.ts";
import { ownOrigin, ownSpecifier } from "../create/own-package.ts";
import { scaffoldFiles } from "../create/scaffold-files.ts";
import { readRecord, writeRecord, type ScaffoldRecord } from "../create/scaffold-record.ts";
import { writeTexts } from "../write-text.ts";
import { lineDiff } from "./line-diff.ts";
import { mergeText } from "./merge-text.ts";
import { planUpgrade, type FileChange, type UpgradePlan } from "./plan-upgrade.ts";

export interface Upgrade {
  readonly record: ScaffoldRecord;
  readonly version: string;
  readonly plan: UpgradePlan;
  /** The files as they are. */
  readonly present: ReadonlyMap<string, string>;
}

/** Throws `ERR_USAGE` for a folder that is no such project. */
export function readUpgrade(directory: string): Upgrade {
  const record = readRecord(directory);
  const version = ownVersion();
  if (isNewer(record.version, version)) {
    const state = `it was made by setpoint ${record.version}, and this is ${version}`;
    throw new SetpointError(usageError, `Cannot upgrade the project in "${directory}": ${state}; install that version`);
  }
  const next = scaffoldFiles(parseOperatorName(record.name), ownOrigin(), ownSpecifier(directory));
  const present = new Map<string, string>();
  for (const path of new Set([...record.files.keys(), ...next.keys()]))
    if (existsSync(join(directory, path))) present.set(path, readFileSync(join(directory, path), "utf8"));
  return { record, version, present, plan: planUpgrade(record.files, present, next, mergeText) };
}

/** Writes what was planned, and takes away what is no more when all is written. */
export function enactUpgrade(directory: string, { record, version, plan }: Upgrade): void {
  const texts = new Map<string, string>();
  for (const change of plan.changes)
    if (change.kind !== "removed" && change.kind !== "left")
      texts.set(change.kind === "conflict" ? `${change.path}.new` : change.path, change.text);
  writeTexts(directory, texts);
  for (const { path, kind } of plan.changes) if (kind === "removed") rmSync(join(directory, path));
  writeRecord(directory, { name: record.name, version, files: plan.base });
}

/** One line a file, as a person reads it; with `present` also the lines that change. */
export function changeText(change: FileChange, present?: ReadonlyMap<string, string>): string {
  const note = "note" in change && change.note !== undefined ? `: ${change.note}` : "";
  const beside = change.kind === "conflict" ? `; yours is kept, see ${change.path}.new` : "";
  const line = `  ${change.kind.padEnd(8)} ${change.path}${note}${beside}\n`;
  if (present === undefined || change.kind === "left") return line;
  return line + lineDiff(present.get(change.path) ?? "", "text" in change ? change.text : "");
}

/** Whether version `a` is newer than `b`: three numbers each. */
function isNewer(a: string, b: string): boolean {
  return a.localeCompare(b, "en", { numeric: true }) > 0;
}
