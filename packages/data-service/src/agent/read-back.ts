/**
 * Reads a stored backup and believes nothing: sizes, checksums, authentication, and the engine's own check.
 */
import { createHash } from "node:crypto";
import { InvalidSnapshotError } from "../engine/agent.ts";
import { TransferError } from "../engine/transfer-error.ts";
import type { Manifest } from "../format/manifest.ts";
import { readParts } from "../format/parts.ts";
import { damaged } from "../format/sealed-header.ts";
import { unseal } from "../format/sealed-stream.ts";
import type { Transfer } from "./transfer.ts";

/** Takes the data on their way to the check of the engine. */
export type Tap = (bytes: Uint8Array) => Promise<void>;

/**
 * Throws `BackupDamaged` unless what is stored is exactly what the manifest describes and the engine can
 * restore it.
 */
export async function readBack(transfer: Transfer, manifest: Manifest, tap?: Tap): Promise<void> {
  const { engine, object, signal } = transfer;
  await refuseExtraParts(transfer, manifest);
  const measured = new MeasuredStream(dataOf(transfer, manifest), tap);
  const verified = await engine.verify(measured, signal).catch((error: unknown) => {
    if (error instanceof InvalidSnapshotError) throw damaged(object, error.message);
    throw error;
  });
  measured.expectWhole();
  const { dataBytes, sha256 } = manifest.backup;
  if (measured.bytes !== dataBytes || verified.dataBytes !== dataBytes)
    throw damaged(object, `it has ${measured.bytes} bytes of data, expected ${dataBytes}`);
  if (measured.sha256() !== sha256) throw damaged(object, "the SHA-256 of the data is wrong");
}

function dataOf(
  { storage, object, signal, keyNamed }: Transfer,
  { backup, parts }: Manifest,
): AsyncIterable<Uint8Array> {
  const stored = readParts(storage, object, { parts, bytes: backup.storedBytes, sha256: backup.storedSha256 }, signal);
  return backup.encryptionKey === undefined ? stored : unseal(stored, keyNamed(backup.encryptionKey), object);
}

async function refuseExtraParts({ storage, object, signal }: Transfer, { parts }: Manifest): Promise<void> {
  const listed = await storage.list(object, signal);
  if (listed.length !== parts) throw damaged(object, `${listed.length} parts are stored, expected ${parts}`);
}

/** Counts and hashes the data while the engine reads them. */
class MeasuredStream implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #tap: Tap | undefined;
  readonly #hash = createHash("sha256");
  #isWhole = false;
  bytes = 0;

  constructor(source: AsyncIterable<Uint8Array>, tap: Tap | undefined) {
    this.#source = source;
    this.#tap = tap;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const bytes of this.#source) {
      this.bytes += bytes.length;
      this.#hash.update(bytes);
      await this.#tap?.(bytes);
      yield bytes;
    }
    this.#isWhole = true;
  }

  /** Checksums are compared at the end of the stream, so an engine that stops early would skip them. */
  expectWhole(): void {
    if (!this.#isWhole) throw new TransferError("InternalError", "The engine's check did not read all data.");
  }

  sha256(): string {
    return this.#hash.digest("hex");
  }
}
