/** Loads the images of a folder or an archive into the cache of this machine's nodes. */
import { messageOf } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { nodeError } from "../../errors.ts";
import { withBuildLock } from "../build-lock.ts";
import { canonicalImageName, isImageName } from "../image-reference.ts";
import { ownPlatform } from "./image-config.ts";
import { type ArchivedImage, readLayout } from "./image-layout.ts";
import { archiveLimits, type ArchiveLimits } from "./limits.ts";
import { type LoadedImage, LoadedImages, loadedPrefix } from "./loaded-images.ts";
import { refusal } from "./refusal.ts";
import { unpackArchive, unpackLayers } from "./unpack.ts";

const unfinished = ".partial";

/** What to load, and where to. */
export interface LoadImagesOptions {
  readonly clock: Clock;
  /** The image cache. */
  readonly directory: string;
  /** An OCI image layout, or a tar file of one or of `docker save`, plain or compressed. */
  readonly path: string;
  /** Instead of the names in the archive, which then must hold one image. */
  readonly name?: string;
  readonly signal?: AbortSignal;
  /** Replaced in tests. */
  readonly limits?: ArchiveLimits;
}

/**
 * Loads all images for this machine's platform. A name appears when its image is complete and verified; an
 * image that is there already is not unpacked again. A load that is interrupted leaves no name, and the next
 * one removes its files. Throws ERR_IMAGE_ARCHIVE.
 */
export async function loadImages(options: LoadImagesOptions): Promise<readonly LoadedImage[]> {
  const { clock, directory, signal } = options;
  try {
    mkdirSync(directory, { recursive: true });
    return await withBuildLock(clock, join(directory, "load.lock"), () => load(options), signal);
  } catch (cause) {
    const error: unknown = signal?.aborted === true ? signal.reason : cause;
    const what = `Cannot load images from "${resolve(options.path)}"`;
    if ((error as { code?: unknown }).code === "ENOSPC")
      throw nodeError("ERR_NO_DISK_SPACE", `${what}: the disk of ${directory} is full`, error);
    throw nodeError("ERR_IMAGE_ARCHIVE", `${what}: ${messageOf(error)}`, error);
  }
}

async function load(options: LoadImagesOptions): Promise<readonly LoadedImage[]> {
  const { directory, path, signal, limits = archiveLimits } = options;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw refusal("no such file or folder");
  const staging = join(directory, `load${unfinished}`);
  removeUnfinished(directory);
  try {
    if (!found.isDirectory()) await unpackArchive(path, staging, limits, signal);
    const images = readLayout(found.isDirectory() ? resolve(path) : staging, ownPlatform(), limits);
    const named = images.map((image) => ({ image, names: namesOf(image, images.length, options.name) }));
    const loaded: LoadedImage[] = [];
    for (const { image, names } of named) loaded.push(...(await install(image, names, options)));
    return loaded;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** What an earlier load left that was killed. */
function removeUnfinished(directory: string): void {
  const isOurs = (name: string): boolean => name.startsWith(loadedPrefix) || name.startsWith("load.");
  for (const name of readdirSync(directory)) {
    if (isOurs(name) && name.endsWith(unfinished)) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

async function install(
  image: ArchivedImage,
  names: readonly string[],
  { directory, signal, limits = archiveLimits }: LoadImagesOptions,
): Promise<readonly LoadedImage[]> {
  const images = new LoadedImages(directory);
  const root = join(directory, images.folderOf(image.id));
  const before = images.list().find(({ id }) => id === image.id);
  const bytes = before?.bytes ?? (await unpack(image, root, limits, signal));
  const { id, config, manifestDigest } = image;
  const loaded = names.map((name) => ({
    ...{ name, id, config, bytes },
    ...(manifestDigest === undefined ? {} : { manifestDigest }),
  }));
  for (const each of loaded) images.save(each);
  return loaded;
}

/** Under another name until it is complete. */
async function unpack(
  image: ArchivedImage,
  root: string,
  limits: ArchiveLimits,
  signal?: AbortSignal,
): Promise<number> {
  const partial = `${root}${unfinished}`;
  try {
    const bytes = await unpackLayers(image.layers, partial, limits, signal);
    // It had lost its name, and a container may still run in it.
    if (existsSync(root)) rmSync(partial, { recursive: true });
    else renameSync(partial, root);
    return bytes;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

function namesOf(image: ArchivedImage, count: number, name: string | undefined): readonly string[] {
  if (name !== undefined && count > 1)
    throw refusal(`expected one image for the name "${name}", got ${count}; load it without --name`);
  const names = name === undefined ? image.names : [name];
  if (names.length === 0) throw refusal("it names no image; add --name IMAGE");
  const wrong = names.find((each) => !isImageName(each));
  if (wrong === undefined) return names.map(canonicalImageName);
  throw refusal(`"${wrong}" is not the name of an image: expected one such as registry.example.com/candy:1.2`);
}
