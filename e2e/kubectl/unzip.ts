/**
 * Reads the files of a zip archive; just enough for the archive that brings kubectl, so that no unzip must be
 * installed.
 */
import { inflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  content(): Buffer;
}

const endSignature = 0x06054b50;
const endLength = 22;
const entryLength = 46;
const localHeaderLength = 30;
const deflated = 8;

/** The entries by the archive's own directory, which stands at its end. */
export function zipEntries(archive: Buffer): readonly ZipEntry[] {
  const end = endOfDirectory(archive);
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  return Array.from({ length: count }, () => {
    const start = at;
    const nameLength = archive.readUInt16LE(start + 28);
    at += entryLength + nameLength + archive.readUInt16LE(start + 30) + archive.readUInt16LE(start + 32);
    const name = archive.toString("utf8", start + entryLength, start + entryLength + nameLength);
    return { name, content: () => contentOf(archive, start) };
  });
}

function endOfDirectory(archive: Buffer): number {
  for (let at = archive.length - endLength; at >= 0; at--) if (archive.readUInt32LE(at) === endSignature) return at;
  throw new Error("Cannot read the archive: it has no directory, expected a zip file");
}

function contentOf(archive: Buffer, entry: number): Buffer {
  const method = archive.readUInt16LE(entry + 10);
  const length = archive.readUInt32LE(entry + 20);
  const local = archive.readUInt32LE(entry + 42);
  const start = local + localHeaderLength + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const bytes = archive.subarray(start, start + length);
  return method === deflated ? inflateRawSync(bytes) : bytes;
}
