import type { BytePacker } from "../byte-packer.ts";

/** The quickest level: of blocks of JSON the higher ones win a few percent and cost several times the time. */
const level = 1;

/** Loaded when there is something to pack: an operator of few objects never has. */
const zlib = (): typeof import("node:zlib") => process.getBuiltinModule("node:zlib");

/** Zstandard: a block of 64 KiB takes about 50 µs each way. */
export const systemPacker: BytePacker = {
  pack: (bytes) => {
    const { constants, zstdCompressSync } = zlib();
    // Copied, because the answer is the beginning of a much larger buffer.
    return new Uint8Array(zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } }));
  },
  unpack: (packed) => zlib().zstdDecompressSync(packed),
};
