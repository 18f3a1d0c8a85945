/**
 * What makes a file an etcd snapshot: a bbolt database (its two meta pages, its size, its root page) and the
 * SHA-256 of it at the end. etcdutl makes the same check of the checksum before a restore.
 */
import { createHash } from "node:crypto";
import { InvalidSnapshotError } from "@setpoint/data-service/agent";

const checksumBytes = 32;
const metaMagic = 0xed_0c_da_ed;
const metaVersion = 2;
const pageHeaderBytes = 16;
/** Up to the checksum, which follows. */
const metaBytes = 56;
const branchPage = 1;
const leafPage = 2;
const pageBytesMin = 1_024;
const pageBytesMax = 65_536;
/** Enough for both meta pages. */
const startBytes = pageBytesMax + pageHeaderBytes + metaBytes + 8;

interface Meta {
  readonly pageBytes: number;
  readonly rootPage: bigint;
  /** The pages that the database has used: the file is at least this long. */
  readonly pages: bigint;
  readonly transaction: bigint;
}

/** Takes a snapshot in pieces and keeps only what it needs; `finish` judges. */
export class SnapshotCheck {
  readonly #hash = createHash("sha256");
  #start: Buffer = Buffer.alloc(0);
  #meta: Meta | undefined;
  #rootStart: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  /** All bytes, those of the checksum included. */
  bytes = 0;

  update(piece: Uint8Array): void {
    const at = this.bytes;
    this.bytes += piece.length;
    this.#hashAllButTail(piece);
    if (this.#start.length < startBytes) {
      const missing = startBytes - this.#start.length;
      this.#start = Buffer.concat([this.#start, piece.subarray(0, missing)]);
      if (this.#start.length === startBytes) this.#meta = newestMeta(this.#start);
    }
    this.#takeRoot(piece, at);
  }

  /** Throws `InvalidSnapshotError` unless it was a whole snapshot. */
  finish(): void {
    if (this.bytes === 0) throw new InvalidSnapshotError("it is empty");
    const meta = this.#meta ?? newestMeta(this.#start);
    const databaseBytes = this.bytes - checksumBytes;
    if (databaseBytes % meta.pageBytes !== 0)
      throw new InvalidSnapshotError(`its size is not a number of pages of ${meta.pageBytes} bytes and a checksum`);
    if (BigInt(databaseBytes) < meta.pages * BigInt(meta.pageBytes))
      throw new InvalidSnapshotError(`it has ${databaseBytes} bytes, but its database uses ${meta.pages} pages`);
    this.#checkRoot(meta);
    if (!this.#hash.digest().equals(this.#tail)) throw new InvalidSnapshotError("its SHA-256 is wrong");
  }

  #hashAllButTail(piece: Uint8Array): void {
    const joined = Buffer.concat([this.#tail, piece]);
    const end = Math.max(0, joined.length - checksumBytes);
    this.#hash.update(joined.subarray(0, end));
    this.#tail = Buffer.from(joined.subarray(end));
  }

  /** The header of the root page, which may come in several pieces. */
  #takeRoot(piece: Uint8Array, at: number): void {
    if (this.#meta === undefined || this.#rootStart.length === pageHeaderBytes) return;
    const from = Number(this.#meta.rootPage) * this.#meta.pageBytes + this.#rootStart.length;
    const end = from + pageHeaderBytes - this.#rootStart.length;
    // A root among the first pages has gone by before the meta pages were complete.
    const [source, base] = from < startBytes ? [this.#start, 0] : [piece, at];
    const part = source.subarray(Math.max(0, from - base), Math.max(0, end - base));
    this.#rootStart = Buffer.concat([this.#rootStart, part]);
  }

  #checkRoot({ rootPage, pageBytes }: Meta): void {
    const from = Number(rootPage) * pageBytes;
    const header = this.#meta === undefined ? this.#start.subarray(from, from + pageHeaderBytes) : this.#rootStart;
    if (header.length < pageHeaderBytes) throw new InvalidSnapshotError("its root page is missing");
    const flags = header.readUInt16LE(8);
    if (header.readBigUInt64LE() !== rootPage || (flags !== branchPage && flags !== leafPage))
      throw new InvalidSnapshotError("its root page is damaged");
  }
}

/** bbolt writes its two meta pages in turn; the valid one of the later transaction counts. */
function newestMeta(start: Buffer): Meta {
  const first = readMeta(start, 0);
  // The second page's place follows from the page size, which a damaged first page does not tell.
  const sizes = first === undefined ? [4_096, 8_192, 16_384, 32_768, pageBytesMax] : [first.pageBytes];
  const second = sizes.map((size) => readMeta(start, size)).find((meta) => meta !== undefined);
  const newest = [first, second]
    .filter((meta) => meta !== undefined)
    .toSorted((a, b) => (a.transaction < b.transaction ? 1 : -1))[0];
  if (newest === undefined) throw new InvalidSnapshotError("it is no etcd database: neither meta page is valid");
  return newest;
}

function readMeta(start: Buffer, at: number): Meta | undefined {
  const meta = start.subarray(at + pageHeaderBytes, at + pageHeaderBytes + metaBytes + 8);
  if (meta.length < metaBytes + 8 || meta.readUInt32LE(0) !== metaMagic || meta.readUInt32LE(4) !== metaVersion)
    return undefined;
  if (meta.readBigUInt64LE(metaBytes) !== fnv1a(meta.subarray(0, metaBytes))) return undefined;
  const pageBytes = meta.readUInt32LE(8);
  const isPageSize = pageBytes >= pageBytesMin && pageBytes <= pageBytesMax && (pageBytes & (pageBytes - 1)) === 0;
  if (!isPageSize) return undefined;
  return {
    pageBytes,
    rootPage: meta.readBigUInt64LE(16),
    pages: meta.readBigUInt64LE(40),
    transaction: meta.readBigUInt64LE(48),
  };
}

/** FNV-1a of 64 bits, bbolt's checksum of a meta page. */
export function fnv1a(bytes: Uint8Array): bigint {
  let hash = 0xcb_f2_9c_e4_84_22_23_25n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x1_00_00_00_01_b3n);
  return hash;
}
