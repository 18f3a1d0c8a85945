/** Bytes of files: decompressed by what they begin with, counted and hashed as they pass. */
import { createHash } from "node:crypto";
import { closeSync, createReadStream, openSync, readSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";

type Bytes = AsyncIterable<Buffer>;

const gzipStart = Buffer.from([0x1f, 0x8b]);
const zstdStart = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** The bytes of a file. */
export function fileBytes(path: string, signal?: AbortSignal): Bytes {
  return createReadStream(path, signal === undefined ? {} : { signal }) as Bytes;
}

/** The bytes, unpacked when the file at `path` begins as a gzip or zstd file does. */
export function decompressed(bytes: Bytes, path: string): Bytes {
  const start = startOf(path);
  if (start.subarray(0, gzipStart.length).equals(gzipStart)) return through(bytes, createGunzip());
  return start.equals(zstdStart) ? through(bytes, createZstdDecompress()) : bytes;
}

/** The size and the digest of the bytes that passed. */
export class Digester {
  readonly #hash = createHash("sha256");
  size = 0;

  async *pass(bytes: Bytes, onBytes: (count: number) => void = () => {}): Bytes {
    for await (const chunk of bytes) {
      this.size += chunk.length;
      onBytes(chunk.length);
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  /** Once, at the end. */
  digest(): string {
    return `sha256:${this.#hash.digest("hex")}`;
  }
}

/** `sha256:…` of a text or of bytes. */
export function digestOf(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

function through(bytes: Bytes, transform: NodeJS.ReadWriteStream): Bytes {
  // An error ends the iteration of `transform` with that error.
  pipeline(bytes, transform).catch(() => {});
  return transform as unknown as Bytes;
}

function startOf(path: string): Buffer {
  const start = Buffer.alloc(zstdStart.length);
  const file = openSync(path, "r");
  try {
    return start.subarray(0, readSync(file, start, 0, start.length, 0));
  } finally {
    closeSync(file);
  }
}
