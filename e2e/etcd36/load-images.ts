/**
 * Gives `setpoint up` images of etcd that Debian does not have, as any user does: with an archive and
 * `setpoint image load`. Its arguments are versions; what is loaded already stays.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { imageCacheFolder, writeImageArchive } from "@setpoint/cli";
import { LoadedImages } from "@setpoint/process-node";
import { etcdRoot } from "./etcd-build.ts";

const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;

const imageOf = (version: string): string => `quay.io/coreos/etcd:v${version}`;

async function load(version: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-etcd-image-"));
  try {
    const out = join(folder, "etcd.tar");
    const command = ["/usr/local/bin/etcd"];
    await writeImageArchive({ reference: imageOf(version), root: etcdRoot(version), out, command });
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, "image", "load", out], { encoding: "utf8" });
    if (status !== 0) throw new Error(`Cannot load etcd ${version}: ${stderr}`);
    console.log(stdout.trim());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const loaded = new LoadedImages(imageCacheFolder()).list().map(({ name }) => name);
for (const version of process.argv.slice(2)) if (!loaded.includes(imageOf(version))) await load(version);
