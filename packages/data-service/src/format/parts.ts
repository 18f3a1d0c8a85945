/** A stream in a store: parts of at most 8 MiB, `OBJECT/00000001` and so on. */
import { createHash } from "node:crypto";
import type { BackupStorage } from "../storage/backup-storage.ts";
import { damaged } from "./sealed-header.ts";

/** Two of them are in memory during a backup: one is filled while the one before is on its way. */
export const partBytesMax: number = 8 * 1024 * 1024;
export const partsMax = 99_999_999;

export function partPath(object: string, index: number): string {
  return `${object}/${String(index + 1).padStart(8, "0")}`;
}

/** What was stored. */
export interface StoredParts {
  readonly parts: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Stores the stream. It takes no more of it while two parts are in memory. */
export async function writeParts(
  storage: BackupStorage,
  object: string,
  stream: AsyncIterable<Uint8Array>,
  partBytes: number,
  signal: AbortSignal,
): Promise<StoredParts> {
  const hash = createHash("sha256");
  let bytes = 0;
  let parts = 0;
  let onItsWay: Promise<void> = Promise.resolve();
  try {
    for await (const part of partsOf(stream, partBytes)) {
      hash.update(part);
      bytes += part.length;
      // From here on the memory of the part before may be filled again.
      await onItsWay;
      onItsWay = storage.write(partPath(object, parts++), part, signal);
      // A failure is thrown by the await above or below; until then it must not count as unhandled.
      onItsWay.catch(() => {});
    }
  } catch (error) {
    await onItsWay.catch(() => {});
    throw error;
  }
  await onItsWay;
  return { parts, bytes, sha256: hash.digest("hex") };
}

/**
 * The stored stream. It ends normally only when it had exactly the parts, the bytes and the SHA-256 of
 * `stored`.
 */
export async function* readParts(
  storage: BackupStorage,
  object: string,
  stored: StoredParts,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let bytes = 0;
  for (let index = 0; index < stored.parts; index++) {
    const part = await storage.read(partPath(object, index), partBytesMax, signal);
    hash.update(part);
    bytes += part.length;
    yield part;
  }
  if (bytes !== stored.bytes) throw damaged(object, `${bytes} bytes are stored, expected ${stored.bytes}`);
  if (hash.digest("hex") !== stored.sha256) throw damaged(object, "the SHA-256 of the stored bytes is wrong");
}

/**
 * Pieces of exactly `size` bytes, but for the last; one empty piece for an empty stream. The memory of a
 * piece is used again for the piece after the next one: garbage of this size would pile up faster than it is
 * collected.
 */
async function* partsOf(stream: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Buffer> {
  let [part, spare] = [Buffer.allocUnsafe(size), Buffer.allocUnsafe(size)];
  let filled = 0;
  for await (const bytes of stream) {
    for (let at = 0; at < bytes.length;) {
      if (filled === size) {
        yield part;
        [part, spare] = [spare, part];
        filled = 0;
      }
      const count = Math.min(size - filled, bytes.length - at);
      part.set(bytes.subarray(at, at + count), filled);
      filled += count;
      at += count;
    }
  }
  yield part.subarray(0, filled);
}
