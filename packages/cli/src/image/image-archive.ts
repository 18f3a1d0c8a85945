/**
 * Writes a folder as an image archive, without a container engine: an OCI image layout with one layer, as
 * `ctr images import` and `skopeo` take it, and the manifest that `docker load` reads.
 */
import { createHash, type Hash } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { folderLayer } from "./folder-layer.ts";
import { TarWriter } from "./tar-writer.ts";

export interface ImageArchiveOptions {
  /** The name and tag that manifests use. */
  readonly reference: string;
  /** A folder that is the image's whole file system. */
  readonly root: string;
  /** The file to write. */
  readonly out: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** `UID:GID`; default: root. */
  readonly user?: string;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar",
} as const;
const defaultEnv = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };
/** Node's names of processors, where images call them otherwise. */
const architectures: Readonly<Record<string, string>> = { x64: "amd64" };

/**
 * Writes the archive; `out` appears when it is complete. Equal folders and options give equal bytes. Resolves
 * to the image's digest.
 */
export async function writeImageArchive(options: ImageArchiveOptions): Promise<string> {
  const partial = `${options.out}.partial`;
  try {
    const digest = await writeLayout(partial, options);
    await rename(partial, options.out);
    return digest;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeLayout(path: string, options: ImageArchiveOptions): Promise<string> {
  await using tar = await TarWriter.create(path);
  const layer = await addLayer(tar, options.root);
  const config = await addBlob(tar, mediaTypes.config, imageConfig(options, layer));
  const parts = { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [layer] };
  const manifest = await addBlob(tar, mediaTypes.manifest, parts);
  await addJson(tar, "index.json", imageIndex(manifest, options.reference));
  await addJson(tar, "oci-layout", { imageLayoutVersion: "1.0.0" });
  const forDocker = {
    Config: blobPath(config.digest),
    RepoTags: [options.reference],
    Layers: [blobPath(layer.digest)],
  };
  await addJson(tar, "manifest.json", [forDocker]);
  await tar.end();
  return manifest.digest;
}

/** The layer goes straight to the disk: its name, the hash of its content, is known at its end only. */
async function addLayer(tar: TarWriter, root: string): Promise<Descriptor> {
  const hash = createHash("sha256");
  let digest = "";
  const size = await tar.addStream(hashing(folderLayer(root), hash), () => {
    digest = `sha256:${hash.digest("hex")}`;
    return blobPath(digest);
  });
  return { mediaType: mediaTypes.layer, digest, size };
}

async function* hashing(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

async function addBlob(tar: TarWriter, mediaType: string, value: object): Promise<Descriptor> {
  const content = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
  await tar.add(blobPath(digest), content);
  return { mediaType, digest, size: content.length };
}

async function addJson(tar: TarWriter, path: string, value: object): Promise<void> {
  await tar.add(path, Buffer.from(JSON.stringify(value)));
}

function imageConfig(options: ImageArchiveOptions, layer: Descriptor): object {
  return {
    architecture: architectures[process.arch] ?? process.arch,
    os: "linux",
    config: {
      Env: Object.entries(options.env ?? defaultEnv).map(([name, value]) => `${name}=${value}`),
      ...(options.entrypoint === undefined ? {} : { Entrypoint: options.entrypoint }),
      ...(options.command === undefined ? {} : { Cmd: options.command }),
      ...(options.workingDirectory === undefined ? {} : { WorkingDir: options.workingDirectory }),
      ...(options.user === undefined ? {} : { User: options.user }),
    },
    // The layer is not compressed, so it is its own diff.
    rootfs: { type: "layers", diff_ids: [layer.digest] },
  };
}

function imageIndex(manifest: Descriptor, reference: string): object {
  const tag = reference.slice(reference.lastIndexOf(":") + 1);
  // containerd wants the whole name, the specification the tag alone.
  const annotations = { "io.containerd.image.name": reference, "org.opencontainers.image.ref.name": tag };
  return { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [{ ...manifest, annotations }] };
}

function blobPath(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}
