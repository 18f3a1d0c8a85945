/**
 * Builds the workspace and packs the npm package `setpoint`; prints the path of the tarball.
 *
 *     node --conditions=@setpoint/source tools/publish/pack.ts [FOLDER]
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { assembleProduct } from "./product.ts";

const root = new URL("../..", import.meta.url).pathname;

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status === 0) return stdout.trim();
  throw new Error(
    `Cannot pack: ${program} ${args.join(" ")} ended with ${status}: ${error?.message ?? stdout + stderr}`,
  );
}

const destination = resolve(process.argv[2] ?? ".");
const product = mkdtempSync(join(tmpdir(), "setpoint-product-"));
try {
  run(join(root, "node_modules/.bin/tsc"), ["-b", "tsconfig.build.json"], root);
  assembleProduct(product);
  mkdirSync(destination, { recursive: true });
  console.log(join(destination, run("npm", ["pack", "--silent", "--pack-destination", destination], product)));
} finally {
  rmSync(product, { recursive: true });
}
