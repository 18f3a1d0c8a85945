import { resolve } from "node:path";
import { backupStore } from "@setpoint/apiserver/sqlite";
import type { StoreCommand } from "./store-command.ts";

/** `setpoint store backup FILE`: a verified copy of a sound store. */
export const backup: StoreCommand = {
  takesFile: true,
  run({ directory, file }, output) {
    const { objects, revision } = backupStore(directory, resolve(file));
    output.out(`Wrote ${objects} objects at revision ${revision} to "${file}"\n`);
    return 0;
  },
};
