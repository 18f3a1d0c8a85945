import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Where the store of a data directory is: its folder `store`, or the directory itself when that holds the
 * files.
 */
export function storeDirectory(dataDirectory: string | undefined): string {
  const directory = resolve(dataDirectory ?? ".setpoint");
  const holdsFiles = ["state.db", "state.log", "state.mark"].some((name) => existsSync(join(directory, name)));
  return holdsFiles ? directory : join(directory, "store");
}
