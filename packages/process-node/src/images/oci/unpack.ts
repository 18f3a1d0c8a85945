/** Unpacks tar files: an archive of images, and the layers of one image over each other. */
import { mkdirSync } from "node:fs";
import { decompressed, Digester, fileBytes } from "./byte-streams.ts";
import type { ArchivedLayer } from "./image-layout.ts";
import { ArchiveMeter, type ArchiveLimits } from "./limits.ts";
import { refusal } from "./refusal.ts";
import { RootWriter } from "./root-writer.ts";
import { tarEntries } from "./tar-entries.ts";

/** Unpacks an archive into `folder`, which must not exist yet. */
export async function unpackArchive(
  path: string,
  folder: string,
  limits: ArchiveLimits,
  signal?: AbortSignal,
): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  const meter = new ArchiveMeter(limits);
  const writer = new RootWriter({ root: folder, meter, keepOwners: false });
  await unpackTar(counted(decompressed(fileBytes(path, signal), path), meter), writer);
}

/**
 * Unpacks layers into `root`, which must not exist yet, and verifies them. Resolves to the bytes that were
 * unpacked.
 */
export async function unpackLayers(
  layers: readonly ArchivedLayer[],
  root: string,
  limits: ArchiveLimits,
  signal?: AbortSignal,
): Promise<number> {
  // Other users of the host must not run its setuid programs.
  mkdirSync(root, { mode: 0o700 });
  const meter = new ArchiveMeter(limits);
  for (const layer of layers) {
    const packed = new Digester();
    const unpacked = new Digester();
    const bytes = decompressed(packed.pass(fileBytes(layer.file, signal)), layer.file);
    const writer = new RootWriter({ root, meter, keepOwners: process.getuid?.() === 0 });
    await unpackTar(
      unpacked.pass(bytes, (count) => meter.addBytes(count)),
      writer,
    );
    verify("layer", layer.digest, packed.digest());
    verify("content of layer", layer.diffId, unpacked.digest());
  }
  return meter.bytes;
}

function verify(what: string, expected: string | undefined, found: string): void {
  if (expected === undefined || expected === found) return;
  throw refusal(`${what} is damaged: expected ${expected}, got ${found}`);
}

async function unpackTar(bytes: AsyncIterable<Buffer>, writer: RootWriter): Promise<void> {
  for await (const entry of tarEntries(bytes)) await writer.write(entry);
}

async function* counted(bytes: AsyncIterable<Buffer>, meter: ArchiveMeter): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    meter.addBytes(chunk.length);
    yield chunk;
  }
}
