/** Archives of images as an attacker writes them: every field of a tar entry is free. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

export interface RawEntry {
  readonly name: string;
  /** The type flag of tar; a file by default. */
  readonly flag?: string;
  readonly content?: string | Uint8Array;
  /** What the header says, where it lies. */
  readonly declaredSize?: number;
  readonly linkname?: string;
  readonly mode?: number;
  readonly uid?: number;
  /** Records that go before the entry. */
  readonly pax?: Readonly<Record<string, string>>;
}

const blockBytes = 512;
const longestName = 100;

export const symlink = (name: string, linkname: string): RawEntry => ({ name, flag: "2", linkname });
export const hardLink = (name: string, linkname: string): RawEntry => ({ name, flag: "1", linkname });
export const folder = (name: string, mode = 0o755): RawEntry => ({ name, flag: "5", mode });

/** `first` leads to `l1` and so on; the last of `count` links leads to `target`. */
export function linkChain(count: number, target: string, first = "l0"): readonly RawEntry[] {
  return Array.from({ length: count }, (_, i) =>
    symlink(i === 0 ? first : `l${i}`, i === count - 1 ? target : `/l${i + 1}`),
  );
}

export function tarOf(entries: readonly RawEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * blockBytes)]);
}

/** What fills the fields of an image's configuration; `config` has User, WorkingDir and so on. */
export interface HostileImage {
  readonly name: string;
  readonly layers: readonly Buffer[];
  readonly config?: object;
}

/** Writes a compressed `docker save` of the image to `file`. */
export function writeArchive(file: string, image: HostileImage): void {
  writeFileSync(file, gzipSync(dockerArchive(image)));
}

function dockerArchive({ name, layers, config = {} }: HostileImage): Buffer {
  const diffIds = layers.map((layer) => `sha256:${createHash("sha256").update(layer).digest("hex")}`);
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const document = { os: "linux", architecture, config, rootfs: { type: "layers", diff_ids: diffIds } };
  const paths = layers.map((_, i) => `${i}.tar`);
  const manifest = [{ Config: "config.json", RepoTags: [name], Layers: paths }];
  return tarOf([
    { name: "config.json", content: JSON.stringify(document) },
    { name: "manifest.json", content: JSON.stringify(manifest) },
    ...layers.map((content, i) => ({ name: paths[i] ?? "", content })),
  ]);
}

function blocksOf(entry: RawEntry): readonly Buffer[] {
  const long = {
    ...(Buffer.byteLength(entry.name) > longestName ? { path: entry.name } : {}),
    ...(Buffer.byteLength(entry.linkname ?? "") > longestName ? { linkpath: entry.linkname ?? "" } : {}),
    ...entry.pax,
  };
  const records = paxRecords(long);
  const pax = records === "" ? [] : padded({ name: "pax", flag: "x", content: records });
  return [...pax, ...padded(entry)];
}

function padded(entry: RawEntry): readonly Buffer[] {
  const content = Buffer.from(entry.content ?? "");
  const rest = (blockBytes - (content.length % blockBytes)) % blockBytes;
  return [header(entry, entry.declaredSize ?? content.length), content, Buffer.alloc(rest)];
}

/** As they stand in a pax header. */
export function paxRecords(records: Readonly<Record<string, string>>): string {
  return Object.entries(records)
    .map(([key, value]) => paxRecord(key, value))
    .join("");
}

/** Its length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const length = rest + String(rest + String(rest).length).length;
  return `${length} ${key}=${value}\n`;
}

function header({ name, flag = "0", linkname = "", mode = 0o644, uid = 0 }: RawEntry, size: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (at: number, length: number, value: number): void =>
    void block.write(value.toString(8).padStart(length - 1, "0"), at);
  Buffer.from(name).copy(block, 0, 0, longestName);
  octal(100, 8, mode);
  octal(108, 8, uid);
  octal(116, 8, uid);
  octal(124, 12, size);
  octal(136, 12, 0);
  block.write(flag, 156);
  Buffer.from(linkname).copy(block, 157, 0, longestName);
  block.write("ustar\u000000", 257);
  // The checksum is taken with its own field full of spaces.
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
