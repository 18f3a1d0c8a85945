/**
 * Where backups are kept, as the transfer program sees it. Objects are written whole and are small enough to
 * be held in memory: a backup is a sequence of parts (`format/`). An upload in pieces of one large object is
 * avoided on purpose: an interrupted one leaves pieces that no listing shows and that cost money, and
 * opendal's binding for Node cannot abort it.
 */
import { TransferError } from "../engine/transfer-error.ts";

/**
 * Objects by path.
 *
 * Guarantees: an object that `write` resolved for is complete. Every call rejects with a `TransferError`,
 * soon after `signal` aborts.
 *
 * Caveats: `write` that rejected may have written the object, in part or whole. Calls that were aborted may
 * still take effect.
 */
export interface BackupStorage {
  /** Where it is, for messages: `S3 bucket "x"`. */
  readonly place: string;
  write(path: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /**
   * The whole object; rejects with `BackupMissing` when there is none, and with `BackupDamaged` when it is
   * larger than `bytesMax`.
   */
  read(path: string, bytesMax: number, signal: AbortSignal): Promise<Uint8Array>;
  /** The size in bytes; undefined when there is no such object. */
  stat(path: string, signal: AbortSignal): Promise<number | undefined>;
  /** The paths of all objects below `folder`, sorted; none when there is no such folder. */
  list(folder: string, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Deletes one object, or the empty folder that `path` with "/" at its end names. Deleting what is gone
   * succeeds.
   */
  delete(path: string, signal: AbortSignal): Promise<void>;
  /**
   * Resolves when no call is under way, those included that were aborted: after that nothing appears in the
   * store any more.
   */
  idle(): Promise<void>;
}

/** S3 and GCS allow 1,024 bytes with the prefix of the store (200) and the suffix of a part (9). */
export const pathLengthMax = 800;
/** File systems allow 255; a manifest adds 5. */
const segmentLengthMax = 240;
const segment = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * Throws `RequestInvalid` when a path could leave the store's folder or is longer than every store allows.
 */
export function checkPath(path: string): void {
  const isValid =
    path.length <= pathLengthMax &&
    path.split("/").every((each) => segment.test(each) && each.length <= segmentLengthMax);
  if (isValid) return;
  throw new TransferError(
    "RequestInvalid",
    `Cannot use "${path.slice(0, 100)}" as the path of a backup: expected at most ${pathLengthMax} letters, digits, ".", "_", "-" and "/", no segment that begins with "." and none longer than ${segmentLengthMax}.`,
  );
}
