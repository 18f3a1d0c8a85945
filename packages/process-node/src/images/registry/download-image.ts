/** Brings the blobs of an image into a folder, an OCI image layout, and checks each while it arrives. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { nodeError } from "../../errors.ts";
import { pullRefusal } from "./pull-refusal.ts";
import { bodyBytes } from "./read-body.ts";
import type { RegistrySession } from "./registry-session.ts";
import type { Descriptor, ResolvedImage } from "./resolve-image.ts";

/** As kubelets' container runtimes do by default. */
const downloadsMax = 3;

/** The index, the manifest and the configuration: enough to know which image it is. */
export async function downloadHead(session: RegistrySession, image: ResolvedImage, folder: string): Promise<void> {
  const { manifest, manifestDigest: digest, config } = image;
  const path = blobFile(folder, digest);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, manifest);
  const index = { schemaVersion: 2, manifests: [{ digest, size: manifest.length }] };
  writeFileSync(join(folder, "index.json"), JSON.stringify(index));
  await downloadBlob(session, config, folder);
}

/** All layers, some at a time. Throws ERR_NO_DISK_SPACE before anything is fetched that does not fit. */
export async function downloadLayers(
  session: RegistrySession,
  { config, layers }: ResolvedImage,
  folder: string,
  freeBytes: number,
): Promise<void> {
  const different = new Map(layers.map((layer) => [layer.digest, layer]));
  different.delete(config.digest);
  const bytes = [...different.values()].reduce((sum, { size }) => sum + size, 0);
  if (bytes > freeBytes)
    throw nodeError("ERR_NO_DISK_SPACE", `the image has ${bytes} bytes, and ${freeBytes} are free for it`);
  const waiting = [...different.values()].values();
  const work = async (): Promise<void> => {
    for (const layer of waiting) await downloadBlob(session, layer, folder);
  };
  const all = await Promise.allSettled(Array.from({ length: downloadsMax }, work));
  const failed = all.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function downloadBlob(session: RegistrySession, { digest, size }: Descriptor, folder: string): Promise<void> {
  const response = await session.get(`blobs/${digest}`);
  const hash = createHash("sha256");
  await using file = await open(blobFile(folder, digest), "w", 0o600);
  let bytes = 0;
  for await (const chunk of bodyBytes(response)) {
    bytes += chunk.length;
    if (bytes > size) throw pullRefusal(`blob ${digest} is longer than the ${size} bytes of its manifest`);
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  if (bytes < size) throw pullRefusal(`blob ${digest} ended after ${bytes} of ${size} bytes`);
  const found = `sha256:${hash.digest("hex")}`;
  if (found !== digest) throw pullRefusal(`blob ${digest} is damaged: got ${found}`);
}

function blobFile(folder: string, digest: string): string {
  return join(folder, "blobs", digest.replace(":", "/"));
}
