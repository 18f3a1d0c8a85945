import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { BytePacker } from "../byte-packer.ts";

/** The quickest level: of blocks of JSON the higher ones win a few percent and cost several times the time. */
const level = 1;

/** Zstandard: a block of 64 KiB takes about 50 µs each way. */
export const systemPacker: BytePacker = {
  // Copied, because the answer is the beginning of a much larger buffer.
  pack: (bytes) => new Uint8Array(zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } })),
  unpack: (packed) => zstdDecompressSync(packed),
};
