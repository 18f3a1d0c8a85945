/** From the image name of a manifest to its source. */
import { isSetpointError, messageOf, type SetpointError } from "@setpoint/apimachinery";
import { type NodeErrorCode, nodeError } from "../errors.ts";
import type { CatalogueEntry } from "./catalogue-entry.ts";
import { canonicalImageName, parseImageReference } from "./image-reference.ts";
import type { ImageSource, UndescribedImage } from "./image.ts";

/** Finds the source of an image by its name. */
export interface ImageCatalog {
  /** What a program or a catalogue file added. */
  findLocal(image: string): ImageSource | undefined;
  /** What the release or the catalogue has under the name. */
  find(image: string): ImageSource | UndescribedImage | undefined;
  /** The tags of the catalogue for the image's repository. */
  tagsOf(image: string): readonly string[];
}

/** `localImages` are looked up first. `ownImages` belong to the release, as the entries do. */
export function createImageCatalog(
  entries: readonly CatalogueEntry[],
  localImages: Readonly<Record<string, ImageSource>> = {},
  ownImages: Readonly<Record<string, UndescribedImage>> = {},
): ImageCatalog {
  const local = byCanonicalName(localImages);
  const own = byCanonicalName(ownImages);
  const findLocal = (image: string): ImageSource | undefined => local.get(canonicalImageName(image));
  return {
    findLocal,
    find: (image) => findLocal(image) ?? findInCatalogue(entries, image) ?? own.get(canonicalImageName(image)),
    tagsOf(image) {
      const { repository } = parseImageReference(image);
      return Object.keys(entries.find(({ repositories }) => repositories.includes(repository))?.tags ?? {});
    },
  };
}

/** What the entries have under the name; undefined when they do not know it. */
export function findInCatalogue(entries: readonly CatalogueEntry[], image: string): ImageSource | undefined {
  const { repository, tag, digest } = parseImageReference(image);
  // A digest names content that no package has.
  if (tag === undefined || digest !== undefined) return undefined;
  return entries.find(({ repositories }) => repositories.includes(repository))?.tags[tag];
}

function byCanonicalName<T>(images: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(images).map(([name, image]) => [canonicalImageName(name), image]));
}

/**
 * ERR_IMAGE_UNKNOWN, or the code with which the registry's pull ended, with the commands that load and list
 * images.
 */
export function unknownImage(image: string, catalog: ImageCatalog, pull?: unknown): SetpointError {
  const tags = catalog.tagsOf(image);
  const known = tags.length === 0 ? "" : `, but tags ${tags.join(", ")}`;
  const asked = pull === undefined ? "" : `${messageOf(pull)}, and `;
  const what = `Cannot pull image "${image}": ${asked}this node has no image of that name${known}`;
  const todo = 'load it with "setpoint image load FILE"; "setpoint image list" shows what this node can run';
  return nodeError(pullCode(pull), `${what}; ${todo}`, pull);
}

function pullCode(error: unknown): NodeErrorCode {
  const codes: readonly NodeErrorCode[] = ["ERR_IMAGE_DENIED", "ERR_NO_DISK_SPACE", "ERR_IMAGE_PULL"];
  return codes.find((code) => isSetpointError(error, code)) ?? "ERR_IMAGE_UNKNOWN";
}
