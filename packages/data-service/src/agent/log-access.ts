/** How an engine's server reaches the archive of its instance; the operator's half is `observeArchive`. */
import type { LogArchive } from "../archive/log-archive.ts";
import type { EngineLog } from "../engine/log.ts";
import { TransferError } from "../engine/transfer-error.ts";
import { readEncryptionKey } from "../format/encryption-key.ts";
import { openStorage } from "../storage/opendal-storage.ts";
import { agentPaths, type ArchiveAccess, archiveAccess, archiveVariable } from "./request.ts";

/**
 * Opens the archive that the operator has given to this server's pod; undefined when it has given none.
 *
 * Errors: `RequestInvalid` when nobody understands the variable, `StoreRefused` when credentials are missing.
 */
export function openLogArchive(
  log: EngineLog,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  paths: SecretPaths = agentPaths,
): LogArchive | undefined {
  const text = environment[archiveVariable];
  if (text === undefined) return undefined;
  const { folder, store } = parsed(text);
  return {
    storage: openStorage(store.place, store.prefix, paths.storeSecret),
    folder,
    log,
    activeKey: store.activeKey,
    keyNamed: (name) => readEncryptionKey(paths.encryptionSecret, name),
  };
}

/** Where the Secrets of the store are mounted. */
interface SecretPaths {
  readonly storeSecret: string;
  readonly encryptionSecret: string;
}

function parsed(text: string): ArchiveAccess {
  try {
    return archiveAccess.parse(JSON.parse(text));
  } catch (cause) {
    throw new TransferError("RequestInvalid", `Cannot read ${archiveVariable}: it is not what an operator writes.`, {
      cause,
    });
  }
}
