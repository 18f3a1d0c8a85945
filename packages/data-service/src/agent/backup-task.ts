/** Takes a backup: snapshot, encryption, parts, read-back, manifest. */
import { createHash } from "node:crypto";
import { timestamp } from "@setpoint/host";
import { InvalidSnapshotError } from "../engine/agent.ts";
import type { StoredBackup } from "../engine/stored-backup.ts";
import { isTransferError, TransferError } from "../engine/transfer-error.ts";
import { encodeManifest, type Manifest, manifestPath } from "../format/manifest.ts";
import { writeParts } from "../format/parts.ts";
import { seal } from "../format/sealed-stream.ts";
import { deleteBackup } from "./delete-task.ts";
import { readBack } from "./read-back.ts";
import { freshRandomBytes, readManifest, type Transfer } from "./transfer.ts";

/** Within the grace period of transfer pods, which is 10 s. */
const cleanUpMsMax = 8_000;

/**
 * Guarantees: when it resolves, the backup has been read back and can be restored. When it rejects, nothing
 * of it is left, or the error's message says that something may be.
 */
export async function takeBackup(transfer: Transfer): Promise<StoredBackup> {
  const complete = await completeBackup(transfer);
  if (complete !== undefined) return complete.backup;
  try {
    await deleteBackup(transfer);
    const manifest = await storeSnapshot(transfer);
    await readBack(transfer, manifest).catch((error: unknown) => {
      throw isTransferError(error, "BackupDamaged") ? differs(error) : error;
    });
    await storeManifest(transfer, manifest);
    return manifest.backup;
  } catch (error) {
    throw await cleanedUp(transfer, error);
  }
}

/**
 * The backup of an earlier attempt whose result was lost; undefined when there is none, or none that can be
 * used.
 */
async function completeBackup(transfer: Transfer): Promise<Manifest | undefined> {
  try {
    const manifest = await readManifest(transfer);
    await readBack(transfer, manifest);
    transfer.log.info("Backup was complete already", { object: transfer.object });
    return manifest;
  } catch (error) {
    if (isTransferError(error, "BackupMissing") || isTransferError(error, "BackupDamaged")) return undefined;
    throw error;
  }
}

async function storeSnapshot(transfer: Transfer): Promise<Manifest> {
  const { engine, engineName, storage, object, activeKey, signal } = transfer;
  const key = activeKey === undefined ? undefined : transfer.keyNamed(activeKey);
  const takenAt = timestamp(transfer.clock);
  const snapshot = await fromSource(() => engine.snapshot(transfer.environment));
  // It is awaited after the data; a rejection before that must not end the process.
  snapshot.facts.catch(() => {});
  const data = new MeasuredData(snapshot.data);
  const stream = key === undefined ? data.read() : seal(data.read(), key, object, freshRandomBytes);
  const stored = await writeParts(storage, object, stream, transfer.partBytes, signal);
  const { engineVersion, position, log } = await fromSource(() => snapshot.facts);
  const backup: StoredBackup = {
    format: 1,
    engine: engineName,
    engineVersion,
    position,
    takenAt,
    dataBytes: data.bytes,
    storedBytes: stored.bytes,
    sha256: data.sha256(),
    storedSha256: stored.sha256,
    ...(key === undefined ? {} : { encryptionKey: key.name }),
    ...(log === undefined ? {} : { log }),
  };
  transfer.log.info("Stored snapshot", { object, dataBytes: data.bytes, parts: stored.parts });
  return { backup, object, parts: stored.parts };
}

/**
 * What the engine finds wrong with data that come straight from the instance is no damage in a store: another
 * attempt may be whole.
 */
async function fromSource<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof InvalidSnapshotError)) throw error;
    throw new TransferError("SnapshotInvalid", `The instance sent no valid snapshot: ${error.message}`, {
      cause: error,
    });
  }
}

class MeasuredData {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #hash = createHash("sha256");
  bytes = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  async *read(): AsyncGenerator<Uint8Array> {
    const source = this.#source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await fromSource(() => source.next());
        if (next.done === true) return;
        this.bytes += next.value.length;
        this.#hash.update(next.value);
        yield next.value;
      }
    } finally {
      await source.return?.();
    }
  }

  sha256(): string {
    return this.#hash.digest("hex");
  }
}

/** The manifest is written last and read again: only then is the backup complete, and known to be. */
async function storeManifest(transfer: Transfer, manifest: Manifest): Promise<void> {
  const { storage, object, signal, keyNamed } = transfer;
  const { encryptionKey } = manifest.backup;
  const bytes = encodeManifest(manifest, encryptionKey === undefined ? undefined : keyNamed(encryptionKey));
  await storage.write(manifestPath(object), bytes, signal);
  const read = await storage.read(manifestPath(object), bytes.length, signal);
  if (!Buffer.from(bytes).equals(read))
    throw new TransferError(
      "ReadBackDiffers",
      `The manifest of "${object}" in ${storage.place} is not what was written.`,
    );
}

function differs(error: TransferError): TransferError {
  return new TransferError("ReadBackDiffers", `The backup was stored, but could not be read back. ${error.message}`, {
    cause: error,
  });
}

/** Deletes what was stored; the error, with a note when that was not possible. */
async function cleanedUp({ storage, object, log }: Transfer, error: unknown): Promise<unknown> {
  const signal = AbortSignal.timeout(cleanUpMsMax);
  try {
    await Promise.race([storage.idle(), rejection(signal)]);
    await deleteBackup({ storage, object, signal });
    return error;
  } catch (cause) {
    log.warn("Could not delete an incomplete backup", { object, error: cause });
    if (!isTransferError(error)) return error;
    return new TransferError(error.reason, `${error.message} Parts of it may be left under "${object}".`, {
      cause: error,
    });
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
