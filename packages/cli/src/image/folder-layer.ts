/** A folder as the one layer of an image: a tar of everything below it, equal for equal folders. */
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { tarEnd, tarHeader, tarPadding, type TarEntry } from "./tar-header.ts";

const modeBits = 0o7777;

/** The bytes of the layer. Devices, sockets and pipes are left out: containers get their own. */
export async function* folderLayer(root: string): AsyncGenerator<Buffer> {
  yield* contentOf(root, "");
  yield tarEnd;
}

async function* contentOf(root: string, folder: string): AsyncGenerator<Buffer> {
  const names = await readdir(join(root, folder));
  for (const name of names.sort()) {
    const path = folder === "" ? name : `${folder}/${name}`;
    const entry = await describe(root, path);
    if (entry === undefined) continue;
    yield tarHeader(entry);
    if (entry.kind === "file") yield* fileContent(join(root, path), entry.size ?? 0);
    if (entry.kind === "directory") yield* contentOf(root, path);
  }
}

async function describe(root: string, path: string): Promise<TarEntry | undefined> {
  const full = join(root, path);
  const stat = await lstat(full);
  const mode = stat.mode & modeBits;
  if (stat.isDirectory()) return { kind: "directory", path, mode };
  if (stat.isFile()) return { kind: "file", path, mode, size: stat.size };
  if (stat.isSymbolicLink()) return { kind: "symlink", path, mode, target: await readlink(full) };
  return undefined;
}

/** The header promised `size` bytes: a file that changes meanwhile must not shift everything behind it. */
async function* fileContent(path: string, size: number): AsyncGenerator<Buffer> {
  let read = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    read += chunk.length;
    yield chunk;
  }
  if (read !== size)
    throw new Error(`Cannot archive "${path}": it had ${size} bytes, ${read} were read; another process changes it`);
  yield tarPadding(size);
}
