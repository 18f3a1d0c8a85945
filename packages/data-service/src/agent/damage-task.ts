/** Damages a stored backup as a bad disk does, so that an acceptance test can see that it is refused. */
import { partBytesMax, partPath } from "../format/parts.ts";
import type { Transfer } from "./transfer.ts";

/** Changes one byte in the middle of the first part. */
export async function damageBackup({
  storage,
  object,
  signal,
}: Pick<Transfer, "storage" | "object" | "signal">): Promise<void> {
  const path = partPath(object, 0);
  const bytes = Uint8Array.from(await storage.read(path, partBytesMax, signal));
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await storage.write(path, bytes, signal);
}
