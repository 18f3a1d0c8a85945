import { resolve } from "node:path";
import { restoreStore } from "@setpoint/apiserver/sqlite";
import type { StoreCommand } from "./store-command.ts";

/**
 * `setpoint store restore FILE`: the store becomes what it was at the backup; `--replace` when there is one.
 */
export const restore: StoreCommand = {
  takesFile: true,
  yes: "replace",
  run({ directory, file, yes }, output) {
    const { objects, revision, aside } = restoreStore(directory, resolve(file), { replace: yes });
    const old = aside === undefined ? "" : `; the old files are in "${aside}"`;
    output.out(`Restored ${objects} objects; revisions continue after ${revision}${old}\n`);
    return 0;
  },
};
