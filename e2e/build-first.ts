/**
 * Builds all that end-to-end tests start before the first of them: of two files that build at once, one would
 * put an image together from half of the other's files.
 */
import { spawnSync } from "node:child_process";

const root = new URL("..", import.meta.url).pathname;

export function setup(): void {
  const command = ["-b", "tsconfig.build.json"];
  const { status, stdout } = spawnSync(`${root}node_modules/.bin/tsc`, command, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot build the packages: ${stdout.trim()}`);
}
