/** Why a transfer ended without success, as the Backup's status and the pod's result report it. */

/**
 * The reasons of failed transfers, and whether another attempt may succeed.
 */
export const transferReasons = {
  /** The request in the environment is missing or malformed. */
  RequestInvalid: { retry: false },
  SourceUnreachable: { retry: true },
  SourceRefused: { retry: false },
  /** What the instance sent is cut off or cannot be restored. */
  SnapshotInvalid: { retry: true },
  StoreUnreachable: { retry: true },
  /** Wrong credentials, a missing bucket, a setting that the store does not accept. */
  StoreRefused: { retry: false },
  StoreFull: { retry: false },
  BackupMissing: { retry: false },
  /** Stored bytes that differ from what was written, or data that the engine cannot restore. */
  BackupDamaged: { retry: false },
  /** The archive does not lead to the target of a restore. */
  TargetUnreachable: { retry: false },
  /** The store is encrypted, the backup is not. */
  BackupNotEncrypted: { retry: false },
  KeyMissing: { retry: false },
  /** A key that is not 32 bytes long, or not the one that the backup was encrypted with. */
  KeyInvalid: { retry: false },
  /** Bytes read back right after the backup differ from those written. */
  ReadBackDiffers: { retry: true },
  /** The pod's own disk, where `fetch` writes. */
  SnapshotFolderFailed: { retry: true },
  Cancelled: { retry: true },
  InternalError: { retry: true },
} as const satisfies Readonly<Record<string, { readonly retry: boolean }>>;

export type TransferReason = keyof typeof transferReasons;

const transferErrorBrand = "setpoint.dev/TransferError";

/** A transfer that ended without success. Its message contains no secrets. */
export class TransferError extends Error {
  override readonly name = "TransferError";
  readonly brand: string = transferErrorBrand;
  readonly reason: TransferReason;

  constructor(reason: TransferReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }

  /** Whether another attempt may succeed. */
  get retry(): boolean {
    return transferReasons[this.reason].retry;
  }
}

/** Whether a value is a TransferError, with this reason if one is given. */
export function isTransferError(error: unknown, reason?: TransferReason): error is TransferError {
  if (typeof error !== "object" || error === null) return false;
  if ((error as { brand?: unknown }).brand !== transferErrorBrand) return false;
  return reason === undefined || (error as TransferError).reason === reason;
}

/** The error of a transfer whose signal was aborted. */
export function cancelledError(): TransferError {
  return new TransferError(
    "Cancelled",
    "The transfer was stopped before its end. Another attempt starts from the beginning.",
  );
}
