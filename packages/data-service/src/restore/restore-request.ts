/** What a Restore orders its transfer pods; pure. */
import type { ReplaySettings } from "../engine/target.ts";
import type { AgentRequest } from "../agent/request.ts";
import type { BackupStore } from "../kinds/backup-store.ts";
import type { Restore } from "../kinds/restore.ts";
import { storeRequest } from "../transfer/store-mounts.ts";
import { hasReplay, restoreTarget } from "./restore-target.ts";

/** Checks what the restore needs, and finds the way to its target. */
export function verifyRequest(engine: string, restore: Restore, store: BackupStore): AgentRequest {
  const whole = wholeRequest(engine, restore, store);
  return hasReplay(restore)
    ? { task: "verifyWay", ...wayRequest(engine, restore, store) }
    : { task: "verify", ...whole };
}

/** Fetches what was verified: the same backup, and the same history. */
export function fetchRequest(
  engine: string,
  restore: Restore,
  store: BackupStore,
  replay: ReplaySettings | undefined,
): AgentRequest {
  if (replay === undefined) return { task: "fetch", ...wholeRequest(engine, restore, store) };
  return { task: "fetchWay", ...wayRequest(engine, restore, store), files: { ...replay.files } };
}

function wayRequest(engine: string, restore: Restore, store: BackupStore) {
  const { archive = "", object, way } = restore.status ?? {};
  const target = restoreTarget(restore);
  const { object: _object, ...whole } = wholeRequest(engine, restore, store);
  return {
    ...whole,
    folder: archive,
    ...(object === undefined ? {} : { base: object }),
    ...(target === undefined ? {} : { target }),
    ...(way === undefined ? {} : { timeline: way.timeline }),
  };
}

function wholeRequest(engine: string, { status }: Restore, store: BackupStore) {
  const { sha256, encryptionKey, object = "" } = status ?? {};
  const expected =
    sha256 === undefined ? undefined : { sha256, ...(encryptionKey === undefined ? {} : { encryptionKey }) };
  return { engine, store: storeRequest(store), object, expected };
}
