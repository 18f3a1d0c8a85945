/**
 * The keys of a cluster: its certificate authority and the key of its service accounts, kept in a folder or
 * in memory.
 */
import { createPrivateKey } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import { CertificateAuthority, createCertificateAuthority } from "@setpoint/host/certificates";
import type { Clock, Random } from "@setpoint/host";

export interface PkiOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Absent: new keys, kept nowhere. */
  readonly directory?: string;
}

/** The cluster's authority: that of the folder, or a new one, which is then written there. */
export function loadAuthority({ directory, ...host }: PkiOptions): CertificateAuthority {
  if (directory === undefined) return createCertificateAuthority(host);
  const files = { certificate: join(directory, "ca.crt"), key: join(directory, "ca.key") };
  if (existsSync(files.certificate) && existsSync(files.key)) {
    const pair = { certificate: readFileSync(files.certificate, "utf8"), key: readFileSync(files.key, "utf8") };
    return sound(directory, () => new CertificateAuthority(pair, host));
  }
  const authority = createCertificateAuthority(host);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // The key first: a certificate without its key would be of no use to the next start.
  writeWhole(files.key, authority.key);
  writeWhole(files.certificate, authority.certificate);
  return authority;
}

/** The key of the service accounts, made by `create` at the first start. */
export function loadTokenKey(directory: string | undefined): string | undefined {
  if (directory === undefined) return undefined;
  const file = join(directory, "service-accounts.key");
  if (!existsSync(file)) return undefined;
  const key = readFileSync(file, "utf8");
  sound(directory, () => createPrivateKey(key));
  return key;
}

/** What `read` makes of a key, or one sentence about the folder that holds it. */
function sound<T>(directory: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const message = `Cannot read the keys in "${directory}": they are damaged; restore them from a copy, or move the data directory away to start empty`;
    throw new SetpointError("ERR_DATA_DIR_CORRUPT", message, { cause });
  }
}

export function saveTokenKey(directory: string | undefined, key: string): void {
  if (directory === undefined) return;
  const file = join(directory, "service-accounts.key");
  if (!existsSync(file)) writeWhole(file, key);
}

/** All of it or nothing: a start that is killed halfway must not leave half a key for the next one. */
function writeWhole(file: string, text: string): void {
  const draft = `${file}.new`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  renameSync(draft, file);
}
