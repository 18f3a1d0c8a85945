/** A store in memory, for tests. */
import { cancelledError, TransferError } from "../engine/transfer-error.ts";
import { type BackupStorage, checkPath } from "./backup-storage.ts";

/** A store in memory whose objects a test can change behind its back. */
export class MemoryStorage implements BackupStorage {
  readonly place = "the memory";
  readonly objects: Map<string, Uint8Array> = new Map<string, Uint8Array>();

  async write(path: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    await this.#begin(path, signal);
    this.objects.set(path, Uint8Array.from(bytes));
  }

  async read(path: string, bytesMax: number, signal: AbortSignal): Promise<Uint8Array> {
    await this.#begin(path, signal);
    const bytes = this.objects.get(path);
    if (bytes === undefined) throw new TransferError("BackupMissing", `Cannot read "${path}": it is not stored.`);
    if (bytes.length > bytesMax)
      throw new TransferError("BackupDamaged", `"${path}" is larger than ${bytesMax} bytes.`);
    return bytes;
  }

  async stat(path: string, signal: AbortSignal): Promise<number | undefined> {
    await this.#begin(path, signal);
    return this.objects.get(path)?.length;
  }

  async list(folder: string, signal: AbortSignal): Promise<readonly string[]> {
    await this.#begin(folder, signal);
    return [...this.objects.keys()].filter((path) => path.startsWith(`${folder}/`)).toSorted();
  }

  async delete(path: string, signal: AbortSignal): Promise<void> {
    await this.#begin(path.replace(/\/$/, ""), signal);
    this.objects.delete(path);
  }

  async idle(): Promise<void> {}

  async #begin(path: string, signal: AbortSignal): Promise<void> {
    await Promise.resolve();
    if (signal.aborted) throw cancelledError();
    checkPath(path);
  }
}
