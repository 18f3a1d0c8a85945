/**
 * Which images were loaded into a cache, by name. Each name is a file of its own, so writers never wait for
 * each other.
 */
import { isJsonObject } from "@setpoint/apimachinery";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "../../host/json-file.ts";
import type { ImageConfig } from "../image.ts";
import { canonicalImageName, parseImageReference } from "../image-reference.ts";

/** How an image came from its registry. */
export interface PulledFrom {
  /** Of the index that led to its manifest; absent when there is none. */
  readonly indexDigest?: string;
  /** Whether the registry gave it without a login. */
  readonly isPublic: boolean;
  /** Digests of the logins that the registry gave it to. */
  readonly readers: readonly string[];
}

/** An image that `setpoint image load` put into the cache, or that was pulled into it. */
export interface LoadedImage {
  /** With registry, and tag or digest. */
  readonly name: string;
  /** The digest of its configuration. */
  readonly id: string;
  readonly manifestDigest?: string;
  readonly config: ImageConfig;
  /** Of its unpacked layers. */
  readonly bytes: number;
  /** Absent: a person loaded it. */
  readonly pulled?: PulledFrom;
}

/** In the names of the folders of loaded images. */
export const loadedPrefix = "oci-";

/** The loaded images of one cache; every call reads what other processes wrote. */
export class LoadedImages {
  /** The cache's folder. */
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** The image of this name, tag and digest; undefined when none is complete. */
  find(image: string): LoadedImage | undefined {
    const { repository, tag, digest } = parseImageReference(image);
    if (tag !== undefined) {
      const found = this.#read(this.#file(`${repository}:${tag}`));
      if (found !== undefined && hasDigest(found, digest)) return found;
    }
    if (digest === undefined) return undefined;
    return this.list().find(
      (each) => parseImageReference(each.name).repository === repository && hasDigest(each, digest),
    );
  }

  /** All of them, by name. */
  list(): readonly LoadedImage[] {
    const files = existsSync(this.#names()) ? readdirSync(this.#names()) : [];
    const images = files.filter((file) => file.endsWith(".json")).map((file) => this.#read(join(this.#names(), file)));
    return images.filter((image) => image !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Gives the name to the image; another image of that name loses it. */
  save(image: LoadedImage): void {
    mkdirSync(this.#names(), { recursive: true, mode: 0o700 });
    writeJson(this.#file(image.name), image);
  }

  /** Whether there was one. Its files go when no name and no container needs them. */
  remove(image: string): boolean {
    const { repository, digest } = parseImageReference(image);
    const file = this.#file(digest === undefined ? canonicalImageName(image) : `${repository}@${digest}`);
    if (!existsSync(file)) return false;
    rmSync(file);
    return true;
  }

  /** The folder that holds the image's file system. */
  folderOf(id: string): string {
    return `${loadedPrefix}${id.replace("sha256:", "")}`;
  }

  #names(): string {
    return join(this.directory, "loaded");
  }

  #file(name: string): string {
    return join(this.#names(), `${createHash("sha256").update(name).digest("hex")}.json`);
  }

  #read(file: string): LoadedImage | undefined {
    const value = readJson(file);
    if (!isJsonObject(value) || typeof value["name"] !== "string" || typeof value["id"] !== "string") return undefined;
    const image = value as unknown as LoadedImage;
    return existsSync(join(this.directory, this.folderOf(image.id))) ? image : undefined;
  }
}

function hasDigest({ id, manifestDigest, pulled }: LoadedImage, digest: string | undefined): boolean {
  return digest === undefined || [manifestDigest, pulled?.indexDigest, id].includes(digest);
}
