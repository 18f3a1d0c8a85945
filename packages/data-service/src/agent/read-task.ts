/** Verifies a stored backup, and fetches it for a restore. */
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { StoredBackup } from "../engine/stored-backup.ts";
import { TransferError } from "../engine/transfer-error.ts";
import type { Manifest } from "../format/manifest.ts";
import { damaged } from "../format/sealed-header.ts";
import { readBack, type Tap } from "./read-back.ts";
import type { AgentRequest } from "./request.ts";
import { readManifest, type Transfer } from "./transfer.ts";

type Expected = Extract<AgentRequest, { task: "verify" }>["expected"];

/** Reads every byte of the backup, and throws unless it can be restored. */
export async function verifyBackup(transfer: Transfer, expected: Expected, tap?: Tap): Promise<StoredBackup> {
  const manifest = await readManifest(transfer);
  checkExpected(transfer, manifest, expected);
  await readBack(transfer, manifest, tap);
  return manifest.backup;
}

/**
 * Writes the data to `folder`/snapshot. The file appears under that name only when all of it has been
 * verified.
 */
export async function fetchBackup(transfer: Transfer, expected: Expected, folder: string): Promise<StoredBackup> {
  const partial = join(folder, "snapshot.partial");
  const file = await onDisk(async () => {
    await mkdir(folder, { recursive: true });
    return open(partial, "w", 0o644);
  });
  try {
    const backup = await verifyBackup(transfer, expected, (bytes) => onDisk(() => writeAll(file, bytes)));
    await onDisk(() => file.sync());
    await file.close();
    await onDisk(() => rename(partial, join(folder, "snapshot")));
    return backup;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

/**
 * A store that was exchanged for an older or an unencrypted one is consistent in itself; only what is known
 * from elsewhere shows it.
 */
function checkExpected({ object, activeKey, storage }: Transfer, { backup }: Manifest, expected: Expected): void {
  if (expected !== undefined && expected.sha256 !== backup.sha256)
    throw damaged(object, "its SHA-256 is not the one that its Backup reports");
  if (expected !== undefined && expected.encryptionKey !== backup.encryptionKey)
    throw damaged(object, "it is encrypted with another key than its Backup reports");
  if (expected !== undefined || activeKey === undefined || backup.encryptionKey !== undefined) return;
  throw new TransferError(
    "BackupNotEncrypted",
    `The backup "${object}" in ${storage.place} is not encrypted, although its BackupStore is. It may have been exchanged. To use it all the same, name a BackupStore without encryption.`,
  );
}

/** Runs what writes to the pod's disk. */
export async function onDisk<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "an unknown error";
    throw new TransferError("SnapshotFolderFailed", `Cannot write the snapshot file: ${code}. Is the volume full?`, {
      cause,
    });
  }
}
