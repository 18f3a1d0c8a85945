/** From the image name of a manifest to its source. */
import { nodeError } from "../errors.ts";
import type { CatalogueEntry } from "./catalogue-entry.ts";
import { canonicalImageName, parseImageReference } from "./image-reference.ts";
import type { ImageSource, UndescribedImage } from "./image.ts";

/** Finds the source of an image by its name. */
export interface ImageCatalog {
  /** What a program or a catalogue file added. */
  findLocal(image: string): ImageSource | undefined;
  /** Throws ERR_IMAGE_UNKNOWN with the commands that load and list images. */
  find(image: string): ImageSource | UndescribedImage;
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
    find(image) {
      const source = findLocal(image) ?? findInCatalogue(entries, image) ?? own.get(canonicalImageName(image));
      if (source !== undefined) return source;
      const { repository } = parseImageReference(image);
      const entry = entries.find(({ repositories }) => repositories.includes(repository));
      throw nodeError("ERR_IMAGE_UNKNOWN", unknownImage(image, entry));
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

function unknownImage(image: string, entry: CatalogueEntry | undefined): string {
  const what = `Cannot pull image "${image}": this node has no image of that name`;
  const tags = entry === undefined ? "" : `, but tags ${Object.keys(entry.tags).join(", ")}`;
  return `${what}${tags}; load it with "setpoint image load FILE"; "setpoint image list" shows what this node can run`;
}
