/** Deletes a backup, complete or not. */
import { TransferError } from "../engine/transfer-error.ts";
import { manifestPath } from "../format/manifest.ts";
import type { Transfer } from "./transfer.ts";

/** The manifest goes first: what an interrupted deletion leaves is no backup any more. */
export async function deleteBackup({
  storage,
  object,
  signal,
}: Pick<Transfer, "storage" | "object" | "signal">): Promise<void> {
  await storage.delete(manifestPath(object), signal);
  for (const path of await storage.list(object, signal)) await storage.delete(path, signal);
  await storage.delete(`${object}/`, signal);
  const left = await storage.list(object, signal);
  const manifestBytes = await storage.stat(manifestPath(object), signal);
  if (left.length > 0 || manifestBytes !== undefined)
    throw new TransferError("StoreUnreachable", `"${object}" is still in ${storage.place} after its deletion.`);
}
