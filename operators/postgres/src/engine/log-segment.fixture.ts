/** Segments of PostgreSQL's log with chosen records, laid out as in xlogrecord.h. */
import { segmentBytes } from "./log-segments.ts";

const pageBytes = 8_192;
const epochMs = Date.UTC(2000, 0, 1);

function record(manager: number, info: number, transaction: number, data: Buffer): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt32LE(26 + data.length, 0);
  header.writeUInt32LE(transaction, 4);
  header.writeUInt8(info, 16);
  header.writeUInt8(manager, 17);
  header.writeUInt8(255, 24);
  header.writeUInt8(data.length, 25);
  const whole = Buffer.concat([header, data]);
  return Buffer.concat([whole, Buffer.alloc((8 - (whole.length % 8)) % 8)]);
}

function time(atMs: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(atMs - epochMs) * 1_000n);
  return bytes;
}

export function commit(transaction: number, atMs: number): Buffer {
  return record(1, 0x80, transaction, time(atMs));
}

export function restorePoint(name: string, atMs: number): Buffer {
  const text = Buffer.alloc(64);
  text.write(name);
  return record(0, 0x70, 0, Buffer.concat([time(atMs), text]));
}

/** The segment of this number, with records that fit into its first page. */
export function segmentOf(number: number, records: readonly Buffer[]): Buffer {
  const segment = Buffer.alloc(segmentBytes);
  segment.writeUInt16LE(0xd110, 0);
  segment.writeUInt16LE(2, 2);
  segment.writeBigUInt64LE(BigInt(number) * BigInt(segmentBytes), 8);
  const content = Buffer.concat(records);
  if (content.length > pageBytes - 40) throw new Error("The records do not fit into one page");
  content.copy(segment, 40);
  return segment;
}
