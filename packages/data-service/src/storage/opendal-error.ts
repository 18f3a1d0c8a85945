/**
 * opendal reports errors as text:
 * `NotFound (permanent) at read, context: { … } => entity not found, source: …`.
 */
import { type TransferReason, TransferError } from "../engine/transfer-error.ts";

interface ParsedError {
  readonly kind: string;
  readonly detail: string;
}

/** ENOSPC, EDQUOT, and what object stores answer. */
const full = /os error (28|122)\b|InsufficientStorage|QuotaExceeded|StorageFull|\b507\b/;
/** EPERM, EACCES, ENOTDIR, EISDIR, EROFS: a claim or folder that is not set up for this. */
const forbidden = /os error (1|13|20|21|30)\b/;
/** Something that was written late is in a folder that is to be deleted; the next attempt deletes it, too. */
const filledMeanwhile = /DirectoryNotEmpty|os error 39\b/;
/** What token services answer to a login that they refuse (RFC 6749, 5.2), and keys that are none. */
const refusedLogin =
  /LoadCredential.*("error"\s*:\s*"(invalid_\w+|unauthorized_client|access_denied)"|InvalidKeyFormat|os error 2\b)/s;
const detailLengthMax = 160;

/**
 * The error of a call that failed. The message has no context of opendal's: that may hold headers and answers
 * of the store.
 */
export function translateOpendalError(error: unknown, action: string, place: string): TransferError {
  const text = error instanceof Error ? error.message : String(error);
  const { kind, detail } = parseOpendalError(text);
  const reason = full.test(text) ? "StoreFull" : reasonOf(kind, isLasting(text) ? "StoreRefused" : "StoreUnreachable");
  return new TransferError(reason, `Cannot ${action} in ${place}: ${detail}. ${advice(reason)}`);
}

/** The same call gets the same answer again. */
function isLasting(text: string): boolean {
  if (forbidden.test(text) || refusedLogin.test(text)) return true;
  if (filledMeanwhile.test(text)) return false;
  const status = Number(/\bstatus: (\d{3})/.exec(text)?.[1] ?? 0);
  return status >= 400 && status < 500 && ![408, 409, 423, 425, 429].includes(status);
}

function reasonOf(kind: string, otherwise: TransferReason): TransferReason {
  switch (kind) {
    case "NotFound":
      return "BackupMissing";
    case "PermissionDenied":
    case "ConfigInvalid":
    case "Unsupported":
    case "NotADirectory":
    case "IsADirectory":
    case "IsSameFile":
      return "StoreRefused";
    default:
      return otherwise;
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
  const answer = answerOf(text) ?? loginAnswerOf(text) ?? sourceOf(text);
  return { kind, detail: answer === undefined ? kind : `${kind}, ${answer}` };
}

/** What an object store answered: its code and the HTTP status, and no word of its own. */
function answerOf(text: string): string | undefined {
  const code = /\bcode: "([\w.]+)"/.exec(text)?.[1];
  const status = /\bstatus: (\d{3})/.exec(text)?.[1];
  const facts = [code, status === undefined ? undefined : `HTTP ${status}`].filter((fact) => fact !== undefined);
  return facts.length === 0 ? undefined : `the store answered ${facts.join(", ")}`;
}

/** The code that a token service answered, and no word of its own: it may repeat parts of the login. */
function loginAnswerOf(text: string): string | undefined {
  const [, answer] = /LoadCredential.*exchange token failed:(.*)/s.exec(text) ?? [];
  if (answer === undefined) return undefined;
  const code = /"error"\s*:\s*"([a-z_]+)"/.exec(answer)?.[1];
  return `the token service refused the login${code === undefined ? "" : `: ${code}`}`;
}

/** The last cause, such as that of the operating system. */
function sourceOf(text: string): string | undefined {
  const at = text.lastIndexOf("=> ");
  if (at === -1) return undefined;
  // A URL may be signed; what follows the question mark stays out.
  const plain = text.slice(at + 3).replaceAll(/\?\S*/g, "");
  return plain.replaceAll(/\s+/g, " ").slice(0, detailLengthMax);
}
