import { chmodSync, existsSync, lstatSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import { prepareFolder } from "./cluster/prepare-folder.ts";

/**
 * `what` the file is completes the sentence that says why it cannot be written; `mode` says who may read it,
 * also when the file is there already.
 */
export function writeText(what: string, path: string, text: string, mode?: number): void {
  try {
    // Before it holds the text.
    if (mode !== undefined && existsSync(path)) chmodSync(path, mode);
    writeFileSync(path, text, { mode: mode ?? 0o666 });
  } catch (cause) {
    throw new SetpointError("ERR_FOLDER", `Cannot write ${what} "${path}": expected a writable file`, {
      cause,
    });
  }
}

/**
 * Texts by their paths below a folder, which is made when it is not there; the paths written. A link in the
 * folder is refused: it may have come with the folder from another author.
 */
export function writeTexts(directory: string, texts: ReadonlyMap<string, string>): readonly string[] {
  prepareFolder("the folder to write into", directory);
  return [...texts].map(([name, text]) => {
    const path = join(directory, name);
    refuseLinks(directory, name);
    prepareFolder("the folder to write into", dirname(path));
    writeText("the file", path, text);
    return path;
  });
}

function refuseLinks(directory: string, name: string): void {
  const names = name.split("/");
  const paths = names.map((_, i) => join(directory, ...names.slice(0, i + 1)));
  const link = paths.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true);
  if (link === undefined && !names.includes("..")) return;
  const why = link === undefined ? "it leaves the folder" : `"${link}" is a link; remove it`;
  throw new SetpointError("ERR_FOLDER", `Cannot write "${name}" into "${directory}": ${why}`);
}
