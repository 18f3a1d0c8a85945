import type { BytePacker } from "../byte-packer.ts";

/**
 * The quickest level: of blocks of JSON the higher ones win a few percent and cost several times the time.
 */
const level = 1;

/** Bytes that cannot be packed become longer by one in so many, and so many more. */
const worstShare = 256;
const worstBytes = 128;

/** Less is refused by Node. */
const chunkBytesMin = 64;

/** Loaded when there is something to pack: an operator of few objects never has. */
const zlib = (): typeof import("node:zlib") => process.getBuiltinModule("node:zlib");

/** Zstandard: a block of 64 KiB takes about 50 µs each way. */
export const systemPacker: BytePacker = {
  pack(bytes) {
    const { constants, zstdCompressSync } = zlib();
    const chunkSize = bytes.length + Math.ceil(bytes.length / worstShare) + worstBytes;
    const params = { [constants.ZSTD_c_compressionLevel]: level };
    // Told how much there is, it needs kilobytes of tables and not a megabyte for each call, when packing and
    // when unpacking.
    const answer = zstdCompressSync(bytes, { params, pledgedSrcSize: bytes.length, chunkSize });
    // Copied, because the answer is the beginning of a much larger buffer.
    const packed = new Uint8Array(answer);
    giveBack(answer, chunkSize);
    return packed;
  },
  unpack(packed, into) {
    // With room for the byte that is not there: a buffer that is full is followed by another, and both are
    // copied.
    const chunkSize = Math.max(into.length + 1, chunkBytesMin);
    const answer = zlib().zstdDecompressSync(packed, { chunkSize });
    into.set(answer);
    giveBack(answer, chunkSize);
  },
};

/**
 * Node keeps the last buffer of every call until V8 collects everything: tens of megabytes for a cache that
 * is read through. A small one is a part of a buffer that Node shares out, and stays.
 */
function giveBack({ buffer }: Uint8Array, chunkSize: number): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === chunkSize) buffer.transfer(0);
}
