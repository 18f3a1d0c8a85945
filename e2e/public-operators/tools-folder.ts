/** Where programs of public operators stay between runs. */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export function toolsFolder(): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "setpoint", "tools", "public-operators");
  mkdirSync(folder, { recursive: true });
  return folder;
}
