/** Unpacks tar files: an archive of images, and the layers of one image over each other. */
import { mkdirSync } from "node:fs";
import { counted, decompressor, Digester, fileBytes } from "./byte-streams.ts";
import type { ArchivedLayer } from "./image-layout.ts";
import { ArchiveMeter, type ArchiveLimits, type StreamMeter } from "./limits.ts";
import type { LoadPace } from "./load-pace.ts";
import { refusal } from "./refusal.ts";
import { RootWriter } from "./root-writer.ts";
import { tarEntries } from "./tar-entries.ts";
import { TarOverhead } from "./tar-overhead.ts";

/** What holds for all files of one load. */
export interface UnpackOptions {
  readonly limits: ArchiveLimits;
  readonly pace: LoadPace;
}

/** Unpacks an archive, an open file, into `folder`, which must not exist yet. Closes the file. */
export async function unpackArchive(file: number, folder: string, options: UnpackOptions): Promise<void> {
  const { limits, pace } = options;
  mkdirSync(folder, { mode: 0o700 });
  const meter = new ArchiveMeter(limits);
  const stream = meter.stream(limits.bytesMax);
  const unpack = decompressor(file);
  const packed = counted(fileBytes(file, pace.signal), (bytes) => stream.addPacked(bytes));
  using writer = new RootWriter({ root: folder, meter, pace, keepOwners: false });
  await unpackTar(
    counted(unpack(packed), (bytes) => stream.addUnpacked(bytes)),
    writer,
    options,
  );
}

/**
 * Unpacks layers into `root`, which must not exist yet, and verifies them. Resolves to the bytes that were
 * unpacked.
 */
export async function unpackLayers(
  layers: readonly ArchivedLayer[],
  root: string,
  options: UnpackOptions,
): Promise<number> {
  const { limits, pace } = options;
  // Other users of the host must not run its setuid programs.
  mkdirSync(root, { mode: 0o700 });
  const meter = new ArchiveMeter(limits);
  for (const layer of layers) {
    using writer = new RootWriter({ root, meter, pace, keepOwners: process.getuid?.() === 0 });
    await unpackLayer(layer, writer, meter.stream(limits.layerBytesMax), options);
  }
  return meter.bytes;
}

async function unpackLayer(
  layer: ArchivedLayer,
  writer: RootWriter,
  stream: StreamMeter,
  options: UnpackOptions,
): Promise<void> {
  const packed = new Digester();
  const unpacked = new Digester();
  const file = layer.open();
  const unpack = decompressor(file);
  const read = counted(fileBytes(file, options.pace.signal), (bytes) => stream.addPacked(bytes));
  const content = counted(unpack(packed.pass(read)), (bytes) => stream.addUnpacked(bytes));
  await unpackTar(unpacked.pass(content), writer, options);
  verify("layer", layer.digest, packed.digest());
  verify("content of layer", layer.diffId, unpacked.digest());
}

function verify(what: string, expected: string | undefined, found: string): void {
  if (expected === undefined || expected === found) return;
  throw refusal(`${what} is damaged: expected ${expected}, got ${found}`);
}

async function unpackTar(bytes: AsyncIterable<Buffer>, writer: RootWriter, options: UnpackOptions): Promise<void> {
  const overhead = new TarOverhead(options.limits);
  let fault: unknown;
  const watched = watch(bytes, overhead, (error) => (fault = error));
  try {
    for await (const entry of tarEntries(watched)) {
      await options.pace.step();
      overhead.addEntry(entry.header);
      await writer.write(entry);
    }
  } catch (error) {
    // In the midst of a file, the tar library says no more than that its stream was destroyed.
    throw fault ?? error;
  }
}

async function* watch(
  bytes: AsyncIterable<Buffer>,
  overhead: TarOverhead,
  onError: (error: unknown) => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of bytes) {
      overhead.addBytes(chunk.length);
      yield chunk;
    }
  } catch (error) {
    onError(error);
    throw error;
  }
}
