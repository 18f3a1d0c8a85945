/** The header of an encrypted backup; `docs/backup-format.md` has its layout. */
import { createHash, timingSafeEqual } from "node:crypto";
import { TransferError } from "../engine/transfer-error.ts";
import { deriveKey, type EncryptionKey } from "./encryption-key.ts";

const magic = Buffer.from("SETPBK\0\x01", "latin1");
const saltBytes = 32;
const noncePrefixBytes = 7;
const checkBytes = 16;
const fixedBytes = magic.length + 4 + saltBytes + noncePrefixBytes + checkBytes + 1 + 2;
const nameLengthMax = 1_024;
/** No header is larger. */
export const headerBytesMax: number = fixedBytes + 63 + nameLengthMax;

/** What opens the chunks of one backup. */
export interface SealedHeader {
  readonly bytes: Buffer;
  /** The SHA-256 of the header: associated data of every chunk. */
  readonly digest: Buffer;
  readonly chunkBytes: number;
  readonly noncePrefix: Buffer;
  readonly dataKey: Buffer;
}

/** A new header with fresh random salt and nonce. */
export function createHeader(
  key: EncryptionKey,
  object: string,
  chunkBytes: number,
  randomBytes: (count: number) => Buffer,
): SealedHeader {
  const salt = randomBytes(saltBytes);
  const noncePrefix = randomBytes(noncePrefixBytes);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(chunkBytes);
  const keyName = Buffer.from(key.name);
  const objectName = Buffer.from(object);
  const objectLength = Buffer.alloc(2);
  objectLength.writeUInt16BE(objectName.length);
  const names = [Buffer.from([keyName.length]), keyName, objectLength, objectName];
  const bytes = Buffer.concat([magic, size, salt, noncePrefix, deriveKey(key, salt, "check", checkBytes), ...names]);
  return { bytes, digest: digestOf(bytes), chunkBytes, noncePrefix, dataKey: deriveKey(key, salt, "data", 32) };
}

/**
 * Reads the header at the start of `bytes`; undefined when more bytes are needed. Throws `BackupDamaged` when
 * it is no header or belongs to another object, and `KeyInvalid` when the key is not the one that the backup
 * was encrypted with.
 */
export function parseHeader(bytes: Buffer, key: EncryptionKey, object: string): SealedHeader | undefined {
  if (!bytes.subarray(0, magic.length).equals(magic.subarray(0, bytes.length)))
    throw damaged(object, "its first bytes are not those of an encrypted backup");
  const keyLength = bytes[fixedBytes - 3];
  if (keyLength === undefined) return undefined;
  const afterKey = fixedBytes - 2 + keyLength;
  if (bytes.length < afterKey + 2) return undefined;
  const end = afterKey + 2 + bytes.readUInt16BE(afterKey);
  if (end > headerBytesMax) throw damaged(object, "its header is too large");
  if (bytes.length < end) return undefined;
  const header = bytes.subarray(0, end);
  const named = header.toString("utf8", fixedBytes - 2, afterKey);
  if (named !== key.name) throw damaged(object, "its header names another key than its manifest");
  if (header.toString("utf8", afterKey + 2) !== object) throw damaged(object, "it is the copy of another backup");
  return openHeader(header, key);
}

function openHeader(header: Buffer, key: EncryptionKey): SealedHeader {
  let at = magic.length;
  const take = (count: number): Buffer => header.subarray(at, (at += count));
  const chunkBytes = take(4).readUInt32BE();
  const salt = take(saltBytes);
  const noncePrefix = take(noncePrefixBytes);
  if (!timingSafeEqual(take(checkBytes), deriveKey(key, salt, "check", checkBytes))) throw wrongKey(key);
  return {
    bytes: header,
    digest: digestOf(header),
    chunkBytes,
    noncePrefix,
    dataKey: deriveKey(key, salt, "data", 32),
  };
}

function digestOf(header: Buffer): Buffer {
  return createHash("sha256").update(header).digest();
}

/** The error for stored bytes that are not those of the backup. */
export function damaged(object: string, why: string): TransferError {
  return new TransferError("BackupDamaged", `The backup "${object}" cannot be used: ${why}. Use another backup.`);
}

/** The error for a key that did not encrypt this backup. */
export function wrongKey({ name }: EncryptionKey): TransferError {
  return new TransferError(
    "KeyInvalid",
    `The encryption key "${name}" does not open the backup: the value in the Secret was changed, or the backup is damaged. Put back the value under that name.`,
  );
}
