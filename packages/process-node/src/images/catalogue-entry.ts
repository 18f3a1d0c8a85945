import type { ImageSource } from "./image.ts";

/** The names of one image, with the source of each tag. */
export interface CatalogueEntry {
  /** Repositories under which the same program is published. */
  readonly repositories: readonly string[];
  /** Tag → source. */
  readonly tags: Readonly<Record<string, ImageSource>>;
}
