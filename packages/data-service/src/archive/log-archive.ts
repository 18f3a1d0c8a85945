/** The log of an instance in a store, beside its backups. `docs/backup-format.md` has the layout. */
import { createHash, randomBytes } from "node:crypto";
import { InvalidSnapshotError } from "../engine/agent.ts";
import type { EngineLog } from "../engine/log.ts";
import { isTransferError, TransferError } from "../engine/transfer-error.ts";
import type { EncryptionKey } from "../format/encryption-key.ts";
import { damaged } from "../format/sealed-header.ts";
import { seal, unseal } from "../format/sealed-stream.ts";
import type { BackupStorage } from "../storage/backup-storage.ts";
import { type ArchivedFile, filePath, logFolder, parseFilePath } from "./archived-file.ts";

/** A segment is held in memory as a whole, three times while it is encrypted. PostgreSQL's have 16 MiB. */
export const segmentBytesMax = 67_108_864;
/** The header, and a tag for each chunk. */
const storedBytesMax = segmentBytesMax + (1 << 20);

/** Where the log of an instance is. */
export interface LogArchive {
  readonly storage: BackupStorage;
  /** What the store has of the instance. */
  readonly folder: string;
  readonly log: EngineLog;
  /** The name of the key for new files; undefined when they are not encrypted. */
  readonly activeKey: string | undefined;
  readonly keyNamed: (name: string) => EncryptionKey;
}

/**
 * Stores a segment, or the file that says where a history begins. The same file again succeeds: an engine
 * repeats what it got no answer for.
 *
 * Errors: `BackupDamaged` when other bytes have the name. They stay: an instance restored or promoted
 * by mistake must not replace the history of another one. `InvalidSnapshotError` when the bytes are neither.
 */
export async function archiveSegment(
  archive: LogArchive,
  name: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<"stored" | "present"> {
  const { storage, folder, activeKey } = archive;
  if (bytes.length > segmentBytesMax)
    throw new InvalidSnapshotError(`"${name}" has ${bytes.length} bytes, expected at most ${segmentBytesMax}`);
  const file = { ...describe(archive.log, name, bytes), name, sha256: digestOf(bytes), encryptionKey: activeKey };
  const present = await filesNamed(archive, name, signal);
  if (present.some(({ sha256 }) => sha256 !== file.sha256))
    throw new TransferError(
      "BackupDamaged",
      `Cannot archive "${name}": ${storage.place} has other bytes under this name; give this instance an archive of its own.`,
    );
  if (await isAnyWhole(archive, present, signal)) return "present";
  const path = filePath(folder, file);
  await storage.write(path, await sealed(archive, path, bytes), signal);
  return "stored";
}

function describe(log: EngineLog, name: string, bytes: Uint8Array) {
  return log.fork?.(name, bytes) ?? log.read(name, bytes);
}

async function filesNamed({ storage, folder }: LogArchive, name: string, signal: AbortSignal) {
  const paths = await storage.list(`${logFolder(folder)}/${name}`, signal);
  return paths.flatMap((path) => parseFilePath(folder, path) ?? []);
}

/** A write that was interrupted may have left a part of the file, which is then written again. */
async function isAnyWhole(archive: LogArchive, files: readonly ArchivedFile[], signal: AbortSignal): Promise<boolean> {
  for (const file of files) {
    try {
      await readArchived(archive, file, signal);
      return true;
    } catch (error) {
      if (!isTransferError(error, "BackupDamaged")) throw error;
    }
  }
  return false;
}

/** Reads one file, and checks that it is whole and what its name says. */
export async function readArchived(archive: LogArchive, file: ArchivedFile, signal: AbortSignal): Promise<Uint8Array> {
  const { storage, folder } = archive;
  const path = filePath(folder, file);
  const stored = await storage.read(path, storedBytesMax, signal);
  const bytes = await opened(archive, file, path, stored);
  if (digestOf(bytes) !== file.sha256) throw damaged(path, "the SHA-256 of the data is wrong");
  checkFacts(archive.log, file, path, bytes);
  return bytes;
}

function checkFacts(log: EngineLog, file: ArchivedFile, path: string, bytes: Uint8Array): void {
  try {
    const { name, sha256, encryptionKey } = file;
    const read = { ...describe(log, name, bytes), name, sha256, encryptionKey };
    if (filePath("", read) !== filePath("", file)) throw new InvalidSnapshotError("its name says something else");
  } catch (error) {
    throw error instanceof InvalidSnapshotError ? damaged(path, error.message) : error;
  }
}

async function sealed({ activeKey, keyNamed }: LogArchive, path: string, bytes: Uint8Array): Promise<Uint8Array> {
  if (activeKey === undefined) return bytes;
  return joined(seal(once(bytes), keyNamed(activeKey), path, (count) => randomBytes(count)));
}

/** A store whose files were exchanged for unencrypted ones is refused, as for backups. */
async function opened(
  { activeKey, keyNamed, storage }: LogArchive,
  { name, encryptionKey }: ArchivedFile,
  path: string,
  stored: Uint8Array,
): Promise<Uint8Array> {
  if (encryptionKey !== undefined) return joined(unseal(once(stored), keyNamed(encryptionKey), path));
  if (activeKey === undefined) return stored;
  throw new TransferError(
    "BackupNotEncrypted",
    `The segment "${name}" in ${storage.place} is not encrypted, although its BackupStore is. It may have been exchanged. To use it all the same, name a BackupStore without encryption.`,
  );
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function joined(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(stream));
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url");
}
