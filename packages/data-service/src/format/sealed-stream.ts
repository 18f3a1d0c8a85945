/**
 * Encryption of a stream: AES-256-GCM in the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár, 2015),
 * as age and Tink use it.
 *
 * The data are cut into chunks of 64 KiB. The nonce of a chunk is a random prefix of the backup (7 bytes),
 * the number of the chunk (4 bytes) and 1 for the last chunk, otherwise 0. So a chunk that is changed,
 * missing, doubled, moved, or cut off at any place does not open. The digest of the header is associated data
 * of every chunk: chunks of another backup do not open either. `docs/backup-format.md` has the whole format.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { EncryptionKey } from "./encryption-key.ts";
import { createHeader, damaged, headerBytesMax, parseHeader, type SealedHeader } from "./sealed-header.ts";

/** Small enough that nothing is released unauthenticated, large enough that tags cost nothing. */
export const chunkBytes = 65_536;
const tagBytes = 16;
/** The counter has 32 bits: 256 TiB. */
const chunksMax = 2 ** 32;
const chunkBytesMax = 1 << 24;

/** The encrypted backup: its header, then its chunks. */
export async function* seal(
  data: AsyncIterable<Uint8Array>,
  key: EncryptionKey,
  object: string,
  randomBytes: (count: number) => Buffer,
): AsyncGenerator<Uint8Array> {
  const header = createHeader(key, object, chunkBytes, randomBytes);
  yield header.bytes;
  let index = 0;
  for await (const { bytes, last } of chunksOf(data, chunkBytes)) yield sealChunk(header, bytes, index++, last);
}

/**
 * The data of an encrypted backup. Each chunk is authenticated before it is yielded; the whole is complete
 * only when the generator ends.
 */
export async function* unseal(
  stored: AsyncIterable<Uint8Array>,
  key: EncryptionKey,
  object: string,
): AsyncGenerator<Uint8Array> {
  const { header, rest } = await readHeader(stored, key, object);
  if (header.chunkBytes === 0 || header.chunkBytes > chunkBytesMax)
    throw damaged(object, "its chunks have no valid size");
  let index = 0;
  for await (const { bytes, last } of chunksOf(rest, header.chunkBytes + tagBytes))
    yield openChunk(header, bytes, index++, last, object);
}

function nonceOf({ noncePrefix }: SealedHeader, index: number, last: boolean): Buffer {
  if (index >= chunksMax) throw new RangeError(`A backup has at most ${chunksMax} chunks`);
  const nonce = Buffer.alloc(12);
  noncePrefix.copy(nonce);
  nonce.writeUInt32BE(index, 7);
  nonce[11] = last ? 1 : 0;
  return nonce;
}

function sealChunk(header: SealedHeader, bytes: Uint8Array, index: number, last: boolean): Buffer {
  const cipher = createCipheriv("aes-256-gcm", header.dataKey, nonceOf(header, index, last));
  cipher.setAAD(header.digest);
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function openChunk(header: SealedHeader, bytes: Buffer, index: number, last: boolean, object: string): Buffer {
  if (bytes.length < tagBytes) throw damaged(object, `chunk ${index} is cut off`);
  const end = bytes.length - tagBytes;
  const decipher = createDecipheriv("aes-256-gcm", header.dataKey, nonceOf(header, index, last), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(header.digest);
  decipher.setAuthTag(bytes.subarray(end));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]);
  } catch {
    throw damaged(object, `chunk ${index} was changed, moved or cut off`);
  }
}

interface Chunk {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/**
 * Chunks of exactly `size` bytes; the last one has between 0 and `size`, and 0 only when there are no data at
 * all.
 */
async function* chunksOf(data: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Chunk> {
  let waiting: Buffer = Buffer.alloc(0);
  for await (const bytes of data) {
    let at = 0;
    // A full chunk waits until the next byte: whether it is the last of all is not known before.
    while (waiting.length + bytes.length - at > size) {
      const missing = size - waiting.length;
      const rest = bytes.subarray(at, at + missing);
      yield { bytes: waiting.length === 0 ? asBuffer(rest) : Buffer.concat([waiting, rest]), last: false };
      waiting = Buffer.alloc(0);
      at += missing;
    }
    waiting = Buffer.concat([waiting, bytes.subarray(at)]);
  }
  yield { bytes: waiting, last: true };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface Opened {
  readonly header: SealedHeader;
  readonly rest: AsyncIterable<Uint8Array>;
}

async function readHeader(stored: AsyncIterable<Uint8Array>, key: EncryptionKey, object: string): Promise<Opened> {
  const source = stored[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  for (;;) {
    const header = parseHeader(start, key, object);
    if (header !== undefined) return { header, rest: resumed(start.subarray(header.bytes.length), source) };
    const next = start.length > headerBytesMax ? undefined : await source.next();
    if (next === undefined || next.done === true) throw damaged(object, "its header is cut off");
    start = start.length === 0 ? asBuffer(next.value) : Buffer.concat([start, next.value]);
  }
}

async function* resumed(first: Uint8Array, source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
  } finally {
    await source.return?.();
  }
}
