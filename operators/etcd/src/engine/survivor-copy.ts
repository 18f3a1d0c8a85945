/**
 * Copies a member's data folder aside on the same volume, and removes the copy again. Runs in init
 * containers.
 */
import { constants } from "node:fs";
import { cp, lstat, mkdir, open, readdir, rename, rm, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * etcd allocates a segment of its log before it writes; the copy leaves room for one, and for its file to
 * grow.
 */
export const reservedBytes = 134_217_728;
/** The kubelet cuts messages off at 4,096 bytes. */
const messageLengthMax = 2_000;

export interface CopyOptions {
  readonly source: string;
  readonly target: string;
  /** How many bytes are free on the volume; tests replace it. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/**
 * Copies the folder, and returns its size in bytes.
 *
 * Guarantees: what is at the target is a whole copy from before the first forced start. A copy that is there
 * is never replaced, because the source may have changed since; one that was interrupted starts over.
 */
export async function copyAside({ source, target, freeBytes = freeBytesOf }: CopyOptions): Promise<number> {
  if (await exists(target)) return sizeOf(target);
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(dirname(target), { recursive: true });
  const [bytes, free] = await Promise.all([sizeOf(source), freeBytes(dirname(target))]);
  if (bytes + reservedBytes > free)
    throw new Error(`the copy needs ${bytes} bytes beside ${reservedBytes} for etcd, and ${free} are free`);
  await cp(source, partial, { recursive: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE });
  const copied = await sizeOf(partial);
  if (copied !== bytes) throw new Error(`the copy has ${copied} bytes, expected ${bytes}`);
  await syncAll(partial);
  await rename(partial, target);
  await sync(dirname(target));
  return bytes;
}

/** The same for a container: the outcome goes to the termination log. Resolves with the exit code. */
export async function runCopyAside(options: CopyOptions, terminationLog: string): Promise<number> {
  try {
    await writeFile(terminationLog, JSON.stringify({ bytes: await copyAside(options) }));
    return 0;
  } catch (error) {
    await writeFile(terminationLog, messageOf(error));
    return 1;
  }
}

/** A copy that cannot be removed is no reason to keep a member down: always resolves with 0. */
export async function runRemoveCopies(folder: string, terminationLog: string): Promise<number> {
  const problem = await rm(folder, { recursive: true, force: true }).then(() => "", messageOf);
  if (problem !== "") await writeFile(terminationLog, problem).catch(() => {});
  return 0;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, messageLengthMax);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all((await filesIn(folder)).map(async (file) => (await lstat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function syncAll(folder: string): Promise<void> {
  for (const file of await filesIn(folder)) await sync(file);
  const folders = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of folders) if (entry.isDirectory()) await sync(join(entry.parentPath, entry.name));
  await sync(folder);
}

async function sync(path: string): Promise<void> {
  await using file = await open(path);
  await file.sync();
}
