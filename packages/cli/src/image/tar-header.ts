/**
 * Headers of tar entries in the form of POSIX 1003.1-2001 (ustar, with pax records where a name does not
 * fit).
 */

export interface TarEntry {
  readonly kind: "file" | "directory" | "symlink";
  /** Relative, without a slash at the end. */
  readonly path: string;
  /** Permission bits, with set-user-ID, set-group-ID and sticky. */
  readonly mode: number;
  /** Bytes of content; for files. */
  readonly size?: number;
  /** Where a symlink points. */
  readonly target?: string;
}

const blockBytes = 512;
/** What a ustar field holds; longer names travel in a pax record before the entry. */
const nameBytesMax = 100;
/** Eleven octal digits. */
const sizeBytesMax = 8 ** 11 - 1;
const typeFlags = { file: "0", symlink: "2", directory: "5" } as const;

/**
 * The blocks before an entry's content. Owner root and time 0 always, so that equal folders give equal
 * archives.
 */
export function tarHeader(entry: TarEntry): Buffer {
  const path = entry.kind === "directory" ? `${entry.path}/` : entry.path;
  const target = entry.target ?? "";
  const records = [...paxRecord("path", path), ...paxRecord("linkpath", target)].join("");
  const own = headerBlock(path, entry.mode, entry.size ?? 0, typeFlags[entry.kind], target);
  if (records === "") return own;
  const content = Buffer.from(records);
  const pax = headerBlock("pax", 0o644, content.length, "x", "");
  return Buffer.concat([pax, content, tarPadding(content.length), own]);
}

/** What fills the last block of a content of `bytes`. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);
}

/** Two empty blocks. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes);

/** Its length counts itself. */
function paxRecord(key: string, value: string): readonly string[] {
  if (Buffer.byteLength(value) <= nameBytesMax) return [];
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return [`${length} ${key}=${value}\n`];
}

function headerBlock(path: string, mode: number, size: number, typeFlag: string, target: string): Buffer {
  if (size > sizeBytesMax)
    throw new Error(`Cannot archive "${path}": it has ${size} bytes, at most ${sizeBytesMax} fit`);
  const block = Buffer.alloc(blockBytes);
  Buffer.from(path).copy(block, 0, 0, nameBytesMax);
  writeOctal(block, 100, 8, mode);
  writeOctal(block, 108, 8, 0);
  writeOctal(block, 116, 8, 0);
  writeOctal(block, 124, 12, size);
  writeOctal(block, 136, 12, 0);
  block.write(typeFlag, 156);
  Buffer.from(target).copy(block, 157, 0, nameBytesMax);
  block.write("ustar\u000000", 257);
  // The checksum is taken with its own field full of spaces.
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function writeOctal(block: Buffer, offset: number, length: number, value: number): void {
  block.write(value.toString(8).padStart(length - 1, "0"), offset);
}
