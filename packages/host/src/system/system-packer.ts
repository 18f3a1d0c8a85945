import type { BytePacker } from "../byte-packer.ts";

/** The quickest level: of blocks of JSON the higher ones win a few percent and cost several times the time. */
const level = 1;

/** Less is refused by Node. */
const chunkBytesMin = 64;

/** Loaded when there is something to pack: an operator of few objects never has. */
const zlib = (): typeof import("node:zlib") => process.getBuiltinModule("node:zlib");

/** Zstandard: a block of 64 KiB takes about 50 µs each way. */
export const systemPacker: BytePacker = {
  pack: (bytes) => {
    const { constants, zstdCompressSync } = zlib();
    // Told how much there is, it needs kilobytes of tables and not a megabyte for each call, when packing and when unpacking.
    const options = { params: { [constants.ZSTD_c_compressionLevel]: level }, pledgedSrcSize: bytes.length };
    // Copied, because the answer is the beginning of a much larger buffer.
    return new Uint8Array(zstdCompressSync(bytes, options));
  },
  // One buffer for all, with room for the byte that is not there: a buffer that is full is followed by another, and both are copied.
  unpack: (packed, length) => zlib().zstdDecompressSync(packed, { chunkSize: Math.max(length + 1, chunkBytesMin) }),
};
