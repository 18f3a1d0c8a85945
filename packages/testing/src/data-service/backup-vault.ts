/** The stores of simulated transfers: what was stored, and how it fails. */
import { createHash } from "node:crypto";

/** A backup as it lies in a store. */
export interface StoredSnapshot {
  readonly data: string;
  readonly manifest: { readonly sha256: string; readonly position: string; readonly [key: string]: unknown };
}

/** In memory, by the path of the object. */
export class BackupVault {
  readonly #objects = new Map<string, StoredSnapshot>();
  /** Every transfer that needs the store fails while this is true. */
  isFailing = false;

  get objects(): ReadonlyMap<string, StoredSnapshot> {
    return this.#objects;
  }

  /** Throws while the store fails. */
  requireReachable(): void {
    if (this.isFailing) throw new TransferFailure("StoreUnreachable", "the store does not answer", true);
  }

  put(path: string, stored: StoredSnapshot): void {
    this.#objects.set(path, stored);
  }

  /** The data, verified; throws what an agent reports of data that are missing or damaged. */
  read(path: string): StoredSnapshot {
    const stored = this.#objects.get(path);
    if (stored === undefined) throw new TransferFailure("BackupMissing", `${path} is not in the store`, false);
    if (sha256Of(stored.data) !== stored.manifest.sha256)
      throw new TransferFailure("BackupDamaged", `${path} has other bytes than were stored`, false);
    return stored;
  }

  /** The data if they are complete. */
  whole(path: string): StoredSnapshot | undefined {
    const stored = this.#objects.get(path);
    return stored !== undefined && sha256Of(stored.data) === stored.manifest.sha256 ? stored : undefined;
  }

  delete(path: string): void {
    this.#objects.delete(path);
  }

  /** Changes a byte of the object, or of all objects. */
  damage(path?: string): void {
    for (const [each, stored] of this.#objects)
      if (path === undefined || path === each) this.#objects.set(each, { ...stored, data: `${stored.data}!` });
  }
}

/** What an agent reports of a transfer that failed. */
export class TransferFailure extends Error {
  override readonly name = "TransferFailure";
  readonly reason: string;
  readonly retry: boolean;

  constructor(reason: string, message: string, retry: boolean) {
    super(message);
    this.reason = reason;
    this.retry = retry;
  }
}

export function sha256Of(data: string): string {
  return createHash("sha256").update(data).digest("hex");
}
