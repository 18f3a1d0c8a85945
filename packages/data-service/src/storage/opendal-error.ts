/** opendal reports errors as text: `NotFound (permanent) at read, context: { … } => entity not found, source: …`. */
import { type TransferReason, TransferError } from "../engine/transfer-error.ts";

interface ParsedError {
  readonly kind: string;
  readonly detail: string;
}

/** ENOSPC, EDQUOT, and what object stores answer. */
const full = /os error (28|122)\b|InsufficientStorage|QuotaExceeded|StorageFull|\b507\b/;
const detailLengthMax = 160;

/** The error of a call that failed. The message has no context of opendal's: that may hold headers and answers of the store. */
export function translateOpendalError(error: unknown, action: string, place: string): TransferError {
  const text = error instanceof Error ? error.message : String(error);
  const { kind, detail } = parseOpendalError(text);
  const reason = full.test(text) ? "StoreFull" : reasonOf(kind);
  return new TransferError(reason, `Cannot ${action} in ${place}: ${detail}. ${advice(reason)}`);
}

function reasonOf(kind: string): TransferReason {
  switch (kind) {
    case "NotFound":
      return "BackupMissing";
    case "PermissionDenied":
    case "ConfigInvalid":
    case "Unsupported":
    case "NotADirectory":
    case "IsADirectory":
      return "StoreRefused";
    default:
      return "StoreUnreachable";
  }
}

function advice(reason: TransferReason): string {
  switch (reason) {
    case "StoreFull":
      return "Free space in the store, or enlarge it.";
    case "StoreRefused":
      return "Check the BackupStore and the Secret with its credentials.";
    case "BackupMissing":
      return "Nothing is stored under this path.";
    default:
      return "Check that the store is running and reachable from the pod.";
  }
}

function parseOpendalError(text: string): ParsedError {
  const kind = /^(\w+) \(\w+\)/.exec(text)?.[1] ?? "Unexpected";
  const code = /\bcode: "([\w.]+)"/.exec(text)?.[1];
  const status = /\bstatus: (\d{3})/.exec(text)?.[1];
  const source = text.slice(text.lastIndexOf("=> ") + 1).replace(/^> /, "");
  // A URL may be signed; what follows the question mark stays out.
  const plain = source.replaceAll(/\?\S*/g, "").replaceAll(/\s+/g, " ").slice(0, detailLengthMax);
  const answer = code === undefined ? plain : `the store answered ${code}${status === undefined ? "" : ` (${status})`}`;
  return { kind, detail: `${kind}, ${answer}` };
}
