/**
 * Images of Debian closures and of programs that were built here, loaded as any user loads images: an archive
 * and `setpoint image load`.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { imageCacheFolder, writeImageArchive } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, type ImageSource, ImageStore, LoadedImages } from "@setpoint/process-node";

const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;

/**
 * Loads each image that is not loaded yet, or was made of something else; `recorded` is a file that holds of
 * what the loaded images were made.
 */
export async function loadMadeImages(
  sources: Readonly<Record<string, ImageSource>>,
  recorded: string,
  signal: AbortSignal,
): Promise<void> {
  const names = new Set(new LoadedImages(imageCacheFolder()).list().map(({ name }) => name));
  const madeOf = readRecord(recorded);
  const isLoaded = (name: string): boolean => names.has(name) && madeOf.get(name) === descriptionOf(sources[name]);
  const catalog = createImageCatalog([], sources);
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  for (const reference of Object.keys(sources).filter((name) => !isLoaded(name))) {
    const { rootDirectory, config } = await store.ensure(reference, { signal });
    await load(reference, (out) => writeImageArchive({ ...config, reference, root: rootDirectory, out }));
    madeOf.set(reference, descriptionOf(sources[reference]));
    writeFileSync(recorded, JSON.stringify(Object.fromEntries(madeOf), undefined, 2));
    console.log(`Loaded ${reference}`);
  }
}

/** Files of a run have other paths each time. */
function descriptionOf(source: ImageSource | undefined): string {
  const targets = source?.files?.map(({ to }) => to) ?? [];
  return createHash("sha256")
    .update(JSON.stringify({ ...source, files: targets }))
    .digest("hex");
}

function readRecord(file: string): Map<string, string> {
  if (!existsSync(file)) return new Map();
  return new Map(Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, string>));
}

async function load(reference: string, write: (out: string) => Promise<unknown>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-suite-image-"));
  try {
    const out = join(folder, "image.tar");
    await write(out);
    const { status, stderr } = spawnSync(process.execPath, [bin, "image", "load", out], { encoding: "utf8" });
    if (status !== 0) throw new Error(`Cannot load ${reference}: ${stderr}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
