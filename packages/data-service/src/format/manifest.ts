/**
 * The manifest `OBJECT.json`: what is stored, written after everything else has been read back. A backup
 * without one is incomplete. With a key, an HMAC covers it, so that neither the manifest nor the parts can be
 * exchanged or shortened.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { storedBackup } from "../engine/stored-backup.ts";
import { deriveKey, type EncryptionKey } from "./encryption-key.ts";
import { partsMax } from "./parts.ts";
import { damaged } from "./sealed-header.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const content = z.object({ backup: storedBackup, object: z.string(), parts: z.int().min(1).max(partsMax) });
const file = content.extend({ mac: digest.optional() });

export type Manifest = z.infer<typeof content>;

export const manifestBytesMax = 65_536;

export function manifestPath(object: string): string {
  return `${object}.json`;
}

/** The file's bytes. `key` is the one that `backup.encryptionKey` names. */
export function encodeManifest(manifest: Manifest, key: EncryptionKey | undefined): Uint8Array {
  const mac = key === undefined ? {} : { mac: macOf(manifest, key).toString("hex") };
  return Buffer.from(`${JSON.stringify({ ...manifest, ...mac }, undefined, 2)}\n`);
}

/**
 * Reads a manifest. Throws `BackupDamaged` when it is malformed, of another object, or not by the holder of
 * the key.
 */
export function decodeManifest(bytes: Uint8Array, object: string, keyNamed: (name: string) => EncryptionKey): Manifest {
  const parsed = file.safeParse(parseJson(bytes));
  if (!parsed.success) throw damaged(object, "its manifest is malformed");
  const { mac, ...manifest } = parsed.data;
  if (manifest.object !== object) throw damaged(object, "its manifest belongs to another backup");
  const name = manifest.backup.encryptionKey;
  if (name === undefined) return manifest;
  if (mac === undefined) throw damaged(object, "its manifest is not authenticated");
  if (!timingSafeEqual(Buffer.from(mac, "hex"), macOf(manifest, keyNamed(name))))
    throw damaged(object, `its manifest was changed, or not written with the present value of the key "${name}"`);
  return manifest;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Over the fields in the order of the schema, so that white space and unknown fields do not count. */
function macOf(manifest: Manifest, key: EncryptionKey): Buffer {
  const macKey = deriveKey(key, Buffer.alloc(0), "manifest", 32);
  return createHmac("sha256", macKey)
    .update(JSON.stringify(content.parse(manifest)))
    .digest();
}
