/** The last document of the operator, on the volume of the instance. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import type { DocumentFile } from "./manager-parts.ts";
import { parseDesired } from "./parse-request.ts";
import { paths } from "./paths.ts";

export const documentFile: DocumentFile = {
  read() {
    if (!existsSync(paths.desired)) return undefined;
    try {
      return parseDesired(JSON.parse(readFileSync(paths.desired, "utf8")));
    } catch (error) {
      process.stderr.write(`Cannot use ${paths.desired}: ${String(error)}. The operator sends it again.\n`);
      return undefined;
    }
  },
  write(desired) {
    const path = `${paths.desired}.new`;
    const file = openSync(path, "w", 0o600);
    try {
      writeSync(file, JSON.stringify(desired));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(path, paths.desired);
    persistFolder();
  },
};

/** The term must outlive a machine that loses its power: the operator counts on it. */
function persistFolder(): void {
  const folder = openSync(paths.volume, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
