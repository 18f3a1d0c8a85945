/**
 * Reads the records of one segment of PostgreSQL's log, as far as restores need them: the times of commits,
 * transactions, and named restore points. The layout is that of xlogrecord.h and xlog_internal.h of
 * PostgreSQL 15 to 17 on machines with the low byte first.
 */
import { InvalidSnapshotError } from "@setpoint/data-service/agent";

const pageBytes = 8_192;
const pageAddressAt = 8;
const headerBytes = { short: 24, long: 40 } as const;
const recordHeaderBytes = 24;
const recordBytesMax = 1 << 30;
const flags = { continuesRecord: 1, longHeader: 2 } as const;
/** Resource managers, and what their records are by the upper bits of the info byte. */
const managers = { xlog: 0, xact: 1 } as const;
const xlogKinds = { switch: 0x40, restorePoint: 0x70 } as const;
const xactKinds = { commit: 0x00, prepare: 0x10, abort: 0x20, commitPrepared: 0x30, abortPrepared: 0x40 } as const;
const kindOfXact = 0x70;
const kindOfXlog = 0xf0;
/** PostgreSQL counts microseconds from the year 2000. */
const epochMs = Date.UTC(2000, 0, 1);
const nameBytes = 64;

/** A commit, or a mark that a user set with pg_create_restore_point(). */
export type LogEvent =
  | { readonly kind: "commit"; readonly transaction: number; readonly atMs: number }
  | { readonly kind: "mark"; readonly name: string; readonly atMs: number };

/** The position that a segment says that it begins at; throws `InvalidSnapshotError` when it is none. */
export function firstPosition(segment: Uint8Array): bigint {
  const page = Buffer.from(segment.buffer, segment.byteOffset, segment.byteLength);
  if (page.length < pageBytes || (page.readUInt16LE(2) & flags.longHeader) === 0)
    throw new InvalidSnapshotError("it does not begin as a segment of the log");
  return page.readBigUInt64LE(pageAddressAt);
}

/** What the events of a whole segment are; throws `InvalidSnapshotError` when it is no segment. */
export function logEvents(segment: Uint8Array): readonly LogEvent[] {
  const bytes = Buffer.from(segment.buffer, segment.byteOffset, segment.byteLength);
  const { content, first } = contentOf(bytes);
  const events: LogEvent[] = [];
  for (let at = first; at + recordHeaderBytes <= content.length;) {
    const total = content.readUInt32LE(at);
    // Zeros follow where a segment ends early; the last record may go on in the next one.
    if (total < recordHeaderBytes || total > recordBytesMax || at + total > content.length) break;
    const record = content.subarray(at, at + total);
    if (isSwitch(record)) break;
    const event = eventOf(record);
    if (event !== undefined) events.push(event);
    at += aligned(total);
  }
  return events;
}

/** Without the headers of pages; `first` is where the first record begins that begins in this segment. */
function contentOf(segment: Buffer): { readonly content: Buffer; readonly first: number } {
  const parts: Buffer[] = [];
  const start = firstPosition(segment);
  let first = 0;
  for (let at = 0; at < segment.length; at += pageBytes) {
    const page = segment.subarray(at, at + pageBytes);
    const info = page.readUInt16LE(2);
    // The pages behind the end are empty, or those of the segment whose file was used again.
    if (page.readUInt16LE(0) === 0 || page.readBigUInt64LE(pageAddressAt) !== start + BigInt(at)) break;
    const isLong = (info & flags.longHeader) !== 0;
    if (at === 0) first = (info & flags.continuesRecord) === 0 ? 0 : aligned(page.readUInt32LE(16));
    parts.push(page.subarray(isLong ? headerBytes.long : headerBytes.short));
  }
  return { content: Buffer.concat(parts), first };
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

function isSwitch(record: Buffer): boolean {
  return record.readUInt8(17) === managers.xlog && (record.readUInt8(16) & kindOfXlog) === xlogKinds.switch;
}

function eventOf(record: Buffer): LogEvent | undefined {
  const info = record.readUInt8(16);
  const manager = record.readUInt8(17);
  if (manager === managers.xact) return commitOf(record, info & kindOfXact);
  if (manager !== managers.xlog || (info & kindOfXlog) !== xlogKinds.restorePoint) return undefined;
  const data = mainData(record);
  if (data.length < 8 + nameBytes) return undefined;
  const name = data.toString("utf8", 8, 8 + nameBytes).replace(/\0.*$/s, "");
  return { kind: "mark", name, atMs: timeAt(data) };
}

function commitOf(record: Buffer, kind: number): LogEvent | undefined {
  if (kind !== xactKinds.commit && kind !== xactKinds.commitPrepared) return undefined;
  const data = mainData(record);
  return data.length < 8 ? undefined : { kind: "commit", transaction: record.readUInt32LE(4), atMs: timeAt(data) };
}

function timeAt(data: Buffer): number {
  return epochMs + Number(data.readBigInt64LE(0) / 1_000n);
}

/** Behind the headers of a record that refers to no blocks, as these do. */
function mainData(record: Buffer): Buffer {
  for (let at = recordHeaderBytes; at < record.length;) {
    const id = record.readUInt8(at);
    if (id === 255) return record.subarray(at + 2);
    if (id === 254) return record.subarray(at + 5);
    // An origin of replication has two bytes, a transaction above it four.
    if (id !== 253 && id !== 252) break;
    at += id === 253 ? 3 : 5;
  }
  return Buffer.alloc(0);
}
