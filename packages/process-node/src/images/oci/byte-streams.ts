/** Bytes of files: decompressed by what they begin with, counted and hashed as they pass. */
import { messageOf } from "@setpoint/apimachinery";
import { createHash } from "node:crypto";
import { createReadStream, readSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";

import { refusal } from "./refusal.ts";

type Bytes = AsyncIterable<Buffer>;

const gzipStart = Buffer.from([0x1f, 0x8b]);
const zstdStart = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** The bytes of an open file, which is closed at their end. */
export function fileBytes(file: number, signal?: AbortSignal): Bytes {
  return createReadStream("", { fd: file, start: 0, ...(signal === undefined ? {} : { signal }) }) as Bytes;
}

/** The bytes, unpacked when `file` begins as a gzip or zstd file does. Ask before it is read. */
export function decompressor(file: number): (bytes: Bytes) => Bytes {
  const start = startOf(file);
  if (start.subarray(0, gzipStart.length).equals(gzipStart)) return (bytes) => through(bytes, createGunzip());
  return start.equals(zstdStart) ? (bytes) => through(bytes, createZstdDecompress()) : (bytes) => bytes;
}

/** Hashes the bytes that pass. */
export class Digester {
  readonly #hash = createHash("sha256");

  async *pass(bytes: Bytes): Bytes {
    for await (const chunk of bytes) {
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  /** Once, at the end. */
  digest(): string {
    return `sha256:${this.#hash.digest("hex")}`;
  }
}

/** Tells the size of each chunk that passes. */
export async function* counted(bytes: Bytes, onBytes: (count: number) => void): Bytes {
  for await (const chunk of bytes) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** `sha256:…` of a text or of bytes. */
export function digestOf(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

async function* through(bytes: Bytes, transform: NodeJS.ReadWriteStream): Bytes {
  // An error ends the iteration of `transform` with that error.
  pipeline(bytes, transform).catch(() => {});
  try {
    yield* transform as unknown as Bytes;
  } catch (error) {
    if (!/^(Z_|ZSTD_)/.test(String((error as { readonly code?: unknown }).code))) throw error;
    throw refusal(`it is damaged: expected whole data of gzip or zstd (${messageOf(error)})`, error);
  }
}

function startOf(file: number): Buffer {
  const start = Buffer.alloc(zstdStart.length);
  return start.subarray(0, readSync(file, start, 0, start.length, 0));
}
