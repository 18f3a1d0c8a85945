/** From the image name of a manifest to its source. */
import { nodeError } from "../errors.ts";
import type { CatalogueEntry } from "./debian-catalogue.ts";
import type { ImageSource } from "./image.ts";

/** Finds the source of an image by its name. */
export interface ImageCatalog {
  /** Throws ERR_IMAGE_UNKNOWN with what is known. */
  find(image: string): ImageSource;
}

/** `localImages` are looked up first, by their exact name. */
export function createImageCatalog(
  entries: readonly CatalogueEntry[],
  localImages: Readonly<Record<string, ImageSource>> = {},
): ImageCatalog {
  return {
    find(image) {
      const local = localImages[image] ?? localImages[`${image}:latest`];
      if (local !== undefined) return local;
      const { repository, tag } = parseImageName(image);
      const entry = entries.find(({ repositories }) => repositories.includes(repository));
      const source = entry?.tags[tag];
      if (source !== undefined) return source;
      throw nodeError("ERR_IMAGE_UNKNOWN", unknownImage(image, entry, entries, localImages));
    },
  };
}

/** Splits `repository:tag`; a digest is not a tag, and a port in the registry's name is not either. */
export function parseImageName(image: string): { readonly repository: string; readonly tag: string } {
  const [name = ""] = image.split("@");
  const colon = name.lastIndexOf(":");
  if (colon <= name.lastIndexOf("/")) return { repository: name, tag: "latest" };
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) };
}

function unknownImage(
  image: string,
  entry: CatalogueEntry | undefined,
  entries: readonly CatalogueEntry[],
  localImages: Readonly<Record<string, ImageSource>>,
): string {
  if (entry !== undefined) {
    return `Cannot pull image "${image}": the tag is not in this node's catalogue; known tags: ${Object.keys(entry.tags).join(", ")}`;
  }
  const known = [...entries.flatMap(({ repositories }) => repositories), ...Object.keys(localImages)];
  return `Cannot pull image "${image}": the repository is not in this node's catalogue; known: ${known.join(", ")}`;
}
