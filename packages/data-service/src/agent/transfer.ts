/** One transfer under way: what all four tasks work with. */
import { randomBytes } from "node:crypto";
import type { Clock, Logger } from "@setpoint/host";
import type { AgentEnvironment, EngineAgent } from "../engine/agent.ts";
import { isTransferError, TransferError } from "../engine/transfer-error.ts";
import type { EncryptionKey } from "../format/encryption-key.ts";
import { decodeManifest, type Manifest, manifestBytesMax, manifestPath } from "../format/manifest.ts";
import { damaged } from "../format/sealed-header.ts";
import type { BackupStorage } from "../storage/backup-storage.ts";

/** What a task needs. */
export interface Transfer {
  readonly engineName: string;
  readonly engine: EngineAgent;
  readonly storage: BackupStorage;
  readonly object: string;
  /** The name of the key for new backups. */
  readonly activeKey: string | undefined;
  readonly partBytes: number;
  readonly keyNamed: (name: string) => EncryptionKey;
  readonly environment: AgentEnvironment;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

export const freshRandomBytes = (count: number): Buffer => randomBytes(count);

/** The manifest of a complete backup of this engine. Rejects with `BackupMissing` when there is none. */
export async function readManifest(transfer: Transfer): Promise<Manifest> {
  const { storage, object, signal, keyNamed, engineName } = transfer;
  const bytes = await storage.read(manifestPath(object), manifestBytesMax, signal).catch((error: unknown) => {
    if (!isTransferError(error, "BackupMissing")) throw error;
    throw new TransferError("BackupMissing", `There is no complete backup "${object}" in ${storage.place}.`);
  });
  const manifest = decodeManifest(bytes, object, keyNamed);
  if (manifest.backup.engine !== engineName)
    throw damaged(object, `it is a backup of "${manifest.backup.engine}", expected one of "${engineName}"`);
  return manifest;
}
