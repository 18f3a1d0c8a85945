/** Images and archives as tools write them, made in the test. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pack } from "tar-stream";

export interface FixtureEntry {
  readonly name: string;
  readonly type?: "file" | "directory" | "symlink" | "link" | "fifo";
  readonly content?: string;
  readonly linkname?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly mtime?: Date;
  readonly pax?: Readonly<Record<string, string>>;
}

/** `l0` leads to `l1` and so on; the last of `count` links leads to `target`. */
export function linkChain(count: number, target: string): readonly FixtureEntry[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `l${i}`,
    type: "symlink",
    linkname: i === count - 1 ? target : `l${i + 1}`,
  }));
}

export function sha256(content: Uint8Array | string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** A tar file. */
export async function tarOf(entries: readonly FixtureEntry[]): Promise<Buffer> {
  const tar = pack();
  const chunks: Buffer[] = [];
  const read = (async () => {
    for await (const chunk of tar) chunks.push(chunk as Buffer);
  })();
  for (const { content = "", ...header } of entries) {
    if ((header.type ?? "file") === "file") tar.entry(header, content);
    else tar.entry(header);
  }
  tar.finalize();
  await read;
  return Buffer.concat(chunks);
}

export interface FixtureImage {
  readonly layers: readonly Buffer[];
  /** Of the layers, when they are compressed. */
  readonly diffIds?: readonly string[];
  readonly config?: object;
  readonly architecture?: string;
  readonly name?: string;
}

const ownArchitecture = process.arch === "x64" ? "amd64" : process.arch;

/** Files of an OCI image layout with these images. */
export function layoutFiles(...images: readonly FixtureImage[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const blob = (content: Buffer): object => {
    files.set(`blobs/${sha256(content).replace(":", "/")}`, content);
    return { digest: sha256(content), size: content.length };
  };
  const manifests = images.map((image) => {
    const layers = image.layers.map(blob);
    const config = blob(configOf(image));
    const manifest = blob(Buffer.from(JSON.stringify({ schemaVersion: 2, config, layers })));
    const annotations = image.name === undefined ? {} : { "org.opencontainers.image.ref.name": image.name };
    return { ...manifest, annotations };
  });
  files.set("oci-layout", Buffer.from('{"imageLayoutVersion":"1.0.0"}'));
  files.set("index.json", Buffer.from(JSON.stringify({ schemaVersion: 2, manifests })));
  return files;
}

/** Files of a `docker save`. */
export function dockerFiles(image: FixtureImage): Map<string, Buffer> {
  const files = new Map(image.layers.map((layer, i) => [`layer-${i}/layer.tar`, layer]));
  files.set("config.json", configOf(image));
  const entry = {
    Config: "config.json",
    RepoTags: [image.name],
    Layers: image.layers.map((_, i) => `layer-${i}/layer.tar`),
  };
  files.set("manifest.json", Buffer.from(JSON.stringify([entry])));
  return files;
}

/** Writes files below a folder. */
export function writeFiles(folder: string, files: ReadonlyMap<string, Buffer>): string {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** Files as one tar file. */
export function tarOfFiles(files: ReadonlyMap<string, Buffer>): Promise<Buffer> {
  return tarOf([...files].map(([name, content]) => ({ name, content: content as unknown as string })));
}

function configOf({
  layers,
  diffIds = layers.map(sha256),
  config = {},
  architecture = ownArchitecture,
}: FixtureImage): Buffer {
  return Buffer.from(
    JSON.stringify({ os: "linux", architecture, config, rootfs: { type: "layers", diff_ids: diffIds } }),
  );
}
