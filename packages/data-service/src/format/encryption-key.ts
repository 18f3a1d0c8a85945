/**
 * Encryption keys: 32 random bytes each, in one Secret, by name. A backup names its key, so a new active key
 * leaves older backups readable as long as their key stays in the Secret. The keys themselves encrypt
 * nothing: each backup and each use gets a key of its own from HKDF.
 */
import { hkdfSync } from "node:crypto";
import { TransferError } from "../engine/transfer-error.ts";
import { readSecretFile } from "../storage/secret-files.ts";

const keyBytes = 32;
/** What a key of a Secret may be called. */
const keyName = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}$/;

/** One key of the Secret. */
export interface EncryptionKey {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Throws `KeyMissing` when the Secret lacks the key, and `KeyInvalid` when it is not 32 bytes long. */
export function readEncryptionKey(folder: string, name: string): EncryptionKey {
  const bytes = keyName.test(name) ? readSecretFile(folder, name) : undefined;
  if (bytes === undefined)
    throw new TransferError(
      "KeyMissing",
      `The Secret with the encryption keys has no key "${name.slice(0, 63)}". Add it; without it the backups that name it cannot be read.`,
    );
  if (bytes.length !== keyBytes)
    throw new TransferError(
      "KeyInvalid",
      `The encryption key "${name}" has ${bytes.length} bytes, expected ${keyBytes} random bytes, as from "head -c ${keyBytes} /dev/urandom".`,
    );
  return { name, bytes };
}

/** A key for one use and one backup. */
export function deriveKey({ bytes }: EncryptionKey, salt: Uint8Array, use: string, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", bytes, salt, `setpoint.dev backup 1 ${use}`, length));
}
