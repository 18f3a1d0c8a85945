/**
 * Reads which images a folder holds: an OCI image layout, or an unpacked `docker save`. Files are found
 * inside the folder only.
 */
import { isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import type { ImageConfig } from "../image.ts";
import { openInRoot } from "../root-path.ts";
import { digestOf } from "./byte-streams.ts";
import { digestIn, listIn, objectIn, parseJson, textIn } from "./document.ts";
import { parseConfig, platformOf } from "./image-config.ts";
import type { ArchiveLimits } from "./limits.ts";
import { refusal } from "./refusal.ts";

/** An image of the folder, for the platform of this machine. */
export interface ArchivedImage {
  /** As the archive writes them. */
  readonly names: readonly string[];
  /** The digest of the configuration: the identity of the image, whatever packs it. */
  readonly id: string;
  /** As `image@sha256:…` refers to it; a `docker save` has none. */
  readonly manifestDigest?: string;
  readonly config: ImageConfig;
  readonly layers: readonly ArchivedLayer[];
}

export interface ArchivedLayer {
  /** Opens the file; close the descriptor. */
  readonly open: () => number;
  /** Of the file; a `docker save` has none. */
  readonly digest?: string;
  /** Of the tar file that is in it. */
  readonly diffId: string;
}

const nestingMax = 4;
const fullNameAnnotation = "io.containerd.image.name";
const nameAnnotation = "org.opencontainers.image.ref.name";

/** All images of the folder that this platform (`linux/amd64`) can run. */
export function readLayout(folder: string, platform: string, limits: ArchiveLimits): readonly ArchivedImage[] {
  const reader = new LayoutReader(folder, platform, limits);
  if (reader.has("index.json")) return reader.ociImages();
  if (reader.has("manifest.json")) return reader.dockerImages();
  throw refusal("expected an OCI image layout (index.json) or a docker archive (manifest.json)");
}

class LayoutReader {
  readonly #folder: string;
  readonly #platform: string;
  readonly #limits: ArchiveLimits;
  readonly #otherPlatforms = new Set<string>();
  #documents = 0;

  constructor(folder: string, platform: string, limits: ArchiveLimits) {
    this.#folder = folder;
    this.#platform = platform;
    this.#limits = limits;
  }

  has(path: string): boolean {
    const file = openInRoot(this.#folder, path);
    if (file !== undefined) closeSync(file);
    return file !== undefined;
  }

  ociImages(): readonly ArchivedImage[] {
    const index = objectIn(this.#document("index.json"), "index.json");
    const descriptors = listIn(index, "manifests", "index.json", this.#limits.imagesMax);
    return this.#required(descriptors.flatMap((descriptor, i) => this.#ociImage(descriptor, `manifests[${i}]`)));
  }

  dockerImages(): readonly ArchivedImage[] {
    const list = this.#document("manifest.json");
    if (!Array.isArray(list) || list.length > this.#limits.imagesMax)
      throw refusal(`manifest.json: expected a list of at most ${this.#limits.imagesMax} images`);
    return this.#required(list.flatMap((entry, i) => this.#dockerImage(entry, `manifest.json[${i}]`)));
  }

  /** One descriptor of an index is an image, or an index of the same image for several platforms. */
  #ociImage(descriptor: unknown, where: string, depth = 0): readonly ArchivedImage[] {
    const { annotations = {}, ...fields } = objectIn(descriptor, where);
    const digest = digestIn(fields, "digest", where);
    if (!this.#isForPlatform(fields["platform"])) return [];
    const document = objectIn(this.#blob(digest, where), where);
    const names = namesOf(annotations);
    if (!Array.isArray(document["manifests"])) {
      return this.#image(document, where).map((image) => ({ ...image, names, manifestDigest: digest }));
    }
    if (depth >= nestingMax) throw refusal(`${where}: expected at most ${nestingMax} indexes inside each other`);
    const nested = listIn(document, "manifests", where, this.#limits.imagesMax);
    const [image] = nested.flatMap((each, i) => this.#ociImage(each, `${where}.manifests[${i}]`, depth + 1));
    return image === undefined ? [] : [{ ...image, names: names.length > 0 ? names : image.names }];
  }

  #image(manifest: JsonObject, where: string): readonly Omit<ArchivedImage, "names">[] {
    const id = digestIn(objectIn(manifest["config"], `${where}.config`), "digest", `${where}.config`);
    const layers = listIn(manifest, "layers", where, this.#limits.layersMax);
    const files = layers.map((layer, i) => {
      const digest = digestIn(objectIn(layer, `${where}.layers[${i}]`), "digest", `${where}.layers[${i}]`);
      return { ...this.#layer(blobPath(digest)), digest };
    });
    return this.#configured(this.#blob(id, `${where}.config`), id, files);
  }

  #dockerImage(entry: unknown, where: string): readonly ArchivedImage[] {
    const image = objectIn(entry, where);
    const path = textIn(image, "Config", where);
    const content = this.#content(path);
    const layers = listIn(image, "Layers", where, this.#limits.layersMax);
    const files = layers.map((layer, i) => {
      if (typeof layer !== "string") throw refusal(`${where}.Layers[${i}]: expected a path`);
      return this.#layer(layer);
    });
    const names = Array.isArray(image["RepoTags"]) ? image["RepoTags"].filter((name) => typeof name === "string") : [];
    return this.#configured(parseJson(content, path), digestOf(content), files).map((found) => ({ ...found, names }));
  }

  #configured(
    document: unknown,
    id: string,
    files: readonly Omit<ArchivedLayer, "diffId">[],
  ): readonly Omit<ArchivedImage, "names">[] {
    const config = parseConfig(document);
    if (config.platform !== this.#platform) {
      this.#otherPlatforms.add(config.platform);
      return [];
    }
    if (config.diffIds.length !== files.length)
      throw refusal(
        `expected as many layers as the configuration names (${config.diffIds.length}), got ${files.length}`,
      );
    const layers = files.map((file, i) => ({ ...file, diffId: config.diffIds[i] ?? "" }));
    return [{ id, config: config.image, layers }];
  }

  #isForPlatform(platform: unknown): boolean {
    if (!isJsonObject(platform)) return true;
    const name = platformOf(platform);
    if (name === this.#platform) return true;
    if (!name.startsWith("unknown")) this.#otherPlatforms.add(name);
    return false;
  }

  #required(images: readonly ArchivedImage[]): readonly ArchivedImage[] {
    if (images.length > 0) return images;
    const others = [...this.#otherPlatforms].join(", ");
    throw refusal(`expected an image for ${this.#platform}, got ${others === "" ? "none" : others}`);
  }

  #blob(digest: string, where: string): unknown {
    const content = this.#content(blobPath(digest));
    const found = digestOf(content);
    if (found !== digest) throw refusal(`${where} is damaged: expected ${digest}, got ${found}`);
    return parseJson(content, where);
  }

  #document(path: string): unknown {
    return parseJson(this.#content(path), path);
  }

  #content(path: string): Buffer {
    const { documentBytesMax, documentsMax } = this.#limits;
    if (++this.#documents > documentsMax)
      throw refusal(`expected at most ${documentsMax} indexes, manifests and configurations`);
    const file = this.#open(path);
    try {
      const { size } = fstatSync(file);
      if (size > documentBytesMax) throw refusal(`"${path}" has ${size} bytes: expected at most ${documentBytesMax}`);
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  }

  /** Throws when it is missing now, before any layer is unpacked. */
  #layer(path: string): Pick<ArchivedLayer, "open"> {
    closeSync(this.#open(path));
    return { open: () => this.#open(path) };
  }

  /** Links in the folder are followed inside of it. */
  #open(path: string): number {
    const file = openInRoot(this.#folder, path);
    if (file !== undefined) return file;
    throw refusal(`expected a file "${path}" in it; the archive is not complete`);
  }
}

/** The full name where a tool wrote one; a tag alone is none. */
function namesOf(annotations: unknown): readonly string[] {
  if (!isJsonObject(annotations)) return [];
  const full = annotations[fullNameAnnotation];
  if (typeof full === "string") return [full];
  const name = annotations[nameAnnotation];
  return typeof name === "string" && /[/:]/.test(name) ? [name] : [];
}

function blobPath(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}
