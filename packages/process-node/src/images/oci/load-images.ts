/** Loads the images of a folder or an archive into the cache of this machine's nodes. */
import { isSetpointError, messageOf } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { constants, existsSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { nodeError } from "../../errors.ts";
import { OpenFolder } from "../../host/open-folder.ts";
import { removeEntry } from "../../host/remove-entry.ts";
import { withBuildLock } from "../build-lock.ts";
import { debianCatalogue } from "../debian-catalogue.ts";
import { findInCatalogue } from "../image-catalog.ts";
import { canonicalImageName, isImageName } from "../image-reference.ts";
import { ownPlatform } from "./image-config.ts";
import { type ArchivedImage, readLayout } from "./image-layout.ts";
import { archiveLimits, type ArchiveLimits } from "./limits.ts";
import { type LoadedImage, LoadedImages, loadedPrefix, type PulledFrom } from "./loaded-images.ts";
import { LoadPace } from "./load-pace.ts";
import { refusal } from "./refusal.ts";
import { unpackArchive, unpackLayers, type UnpackOptions } from "./unpack.ts";

const unfinished = ".partial";
const nameShownMax = 200;

/** What to load, and where to. */
export interface LoadImagesOptions {
  readonly clock: Clock;
  /** The image cache. */
  readonly directory: string;
  /** An OCI image layout, or a tar file of one or of `docker save`, plain or compressed. */
  readonly path: string;
  /** Instead of the names in the archive, which then must hold one image. */
  readonly name?: string;
  /** Whether an image may take a name that stands for Debian packages: nodes then run it instead of them. */
  readonly replacesCatalogue?: boolean;
  /** Names of the release that nodes know beside the catalogue. */
  readonly ownNames?: readonly string[];
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

/** An image that was downloaded into a folder, under the name for which its registry gave it. */
export interface PulledImage {
  readonly name: string;
  readonly from: PulledFrom;
}

/**
 * Loads what was pulled. Its layers are verified even where such an image is there already: a registry that
 * names the digests of another one's image must not get them for its pods.
 */
export function installPulled(options: LoadImagesOptions, pulled: PulledImage): Promise<readonly LoadedImage[]> {
  const { clock, directory, signal } = options;
  return withBuildLock(clock, join(directory, "load.lock"), () => load(options, pulled), signal);
}

async function load(options: LoadImagesOptions, pulled?: PulledImage): Promise<readonly LoadedImage[]> {
  const { clock, directory, path, signal, limits = archiveLimits } = options;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw refusal("no such file or folder");
  if (!found.isDirectory() && !found.isFile()) throw refusal("expected a file or a folder, got a device or a pipe");
  using cache = OpenFolder.at(directory);
  const unpacking = { limits, pace: new LoadPace(clock, limits, signal), cache, pulled: pulled?.from };
  const staging = `load${unfinished}`;
  await removeUnfinished(cache, signal);
  try {
    const isFolder = found.isDirectory();
    if (!isFolder) await unpackArchive(openSync(path, constants.O_RDONLY), join(directory, staging), unpacking);
    const images = readLayout(isFolder ? resolve(path) : join(directory, staging), ownPlatform(), limits);
    const named = images.map((image) => ({
      image,
      names: pulled === undefined ? namesOf(image, images.length, options) : [pulled.name],
    }));
    const loaded: LoadedImage[] = [];
    for (const { image, names } of named) loaded.push(...(await install(image, names, directory, unpacking)));
    return loaded;
  } finally {
    await removeEntry(cache, staging);
  }
}

/** What an earlier load left that was killed. */
async function removeUnfinished(cache: OpenFolder, signal?: AbortSignal): Promise<void> {
  for (const { name } of cache.entries()) {
    const isOurs = name.startsWith(loadedPrefix) || name.startsWith("load.");
    if (isOurs && name.endsWith(unfinished)) await removeEntry(cache, name, signal);
  }
}

interface Unpacking extends UnpackOptions {
  readonly cache: OpenFolder;
  readonly pulled: PulledFrom | undefined;
}

async function install(
  image: ArchivedImage,
  names: readonly string[],
  directory: string,
  unpacking: Unpacking,
): Promise<readonly LoadedImage[]> {
  const images = new LoadedImages(directory);
  const { pulled } = unpacking;
  const before = pulled === undefined ? images.list().find(({ id }) => id === image.id) : undefined;
  const bytes = before?.bytes ?? (await unpack(image, names, directory, unpacking));
  const { id, config, manifestDigest } = image;
  const loaded = names.map((name) => ({
    ...{ name, id, config, bytes },
    ...(manifestDigest === undefined ? {} : { manifestDigest }),
    ...(pulled === undefined ? {} : { pulled }),
  }));
  for (const each of loaded) images.save(each);
  return loaded;
}

/** Under another name until it is complete. */
async function unpack(
  image: ArchivedImage,
  names: readonly string[],
  directory: string,
  unpacking: Unpacking,
): Promise<number> {
  const folder = new LoadedImages(directory).folderOf(image.id);
  const partial = `${folder}${unfinished}`;
  try {
    const bytes = await unpackLayers(image.layers, join(directory, partial), unpacking);
    // When it is there, it had lost its name, and a container may still run in it.
    if (!existsSync(join(directory, folder))) renameSync(join(directory, partial), join(directory, folder));
    return bytes;
  } catch (error) {
    if (!isSetpointError(error, "ERR_IMAGE_ARCHIVE")) throw error;
    throw refusal(`image "${names[0]}": ${messageOf(error)}`, error);
  } finally {
    await removeEntry(unpacking.cache, partial);
  }
}

function namesOf(image: ArchivedImage, count: number, options: LoadImagesOptions): readonly string[] {
  const { name } = options;
  if (name !== undefined && count > 1)
    throw refusal(`expected one image for the name "${name}", got ${count}; load it without --name`);
  const names = name === undefined ? image.names : [name];
  if (names.length === 0) throw refusal("it names no image; add --name IMAGE");
  const { namesMax } = options.limits ?? archiveLimits;
  if (names.length > namesMax) throw refusal(`expected at most ${namesMax} names of an image, got ${names.length}`);
  const wrong = names.find((each) => !isImageName(each));
  if (wrong !== undefined) {
    const shown = JSON.stringify(wrong.slice(0, nameShownMax));
    throw refusal(`${shown} is not the name of an image: expected one such as registry.example.com/candy:1.2`);
  }
  const canonical = names.map(canonicalImageName);
  if (options.replacesCatalogue !== true) refuseKnownNames(canonical, options.ownNames ?? []);
  return canonical;
}

/** All pods of the machine that ask for such a name would run the image without a word. */
function refuseKnownNames(names: readonly string[], ownNames: readonly string[]): void {
  const own = new Set(ownNames.map(canonicalImageName));
  for (const name of names) {
    const known = own.has(name) ? "an operator of this release" : packagesOf(name);
    if (known === undefined) continue;
    throw refusal(
      `nodes have an image "${name}" already (${known}): load this one under another name with --name IMAGE, or in its place with --replace-catalogue`,
    );
  }
}

function packagesOf(name: string): string | undefined {
  const closure = findInCatalogue(debianCatalogue, name)?.closure;
  return closure === undefined ? undefined : `Debian ${closure.suite}: ${closure.packages.join(", ")}`;
}
