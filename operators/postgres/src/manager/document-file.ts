/** The last document of the operator, on the volume of the instance. */
import { existsSync, readFileSync } from "node:fs";
import { replaceFile } from "./data-directory.ts";
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
  write: (desired) => replaceFile(paths.desired, JSON.stringify(desired)),
};
