import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  writeSync,
} from "node:fs";
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
    overwrite(path, text, mode ?? 0o666);
  } catch (cause) {
    throw new SetpointError("ERR_FOLDER", `Cannot write ${what} "${path}": expected a writable file`, {
      cause,
    });
  }
}

/** In place: emptied first, a file on a full disk would lose its text and get no other. */
function overwrite(path: string, text: string, mode: number): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, mode);
  try {
    const bytes = Buffer.from(text);
    let done = 0;
    while (done < bytes.length) done += writeSync(file, bytes, done);
    if (fstatSync(file).isFile()) ftruncateSync(file, bytes.length);
  } finally {
    closeSync(file);
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
