/** Everything that a store has of an instance: backups, segments, and where histories begin. */
import type { BaseBackup, Archive } from "./archive-window.ts";
import { type ArchivedLog, logAmong } from "./archived-file.ts";
import type { LogArchive } from "./log-archive.ts";
import { isTransferError } from "../engine/transfer-error.ts";
import { decodeManifest, manifestBytesMax } from "../format/manifest.ts";

/** What the store has, with the places of its files. */
export type ListedArchive = Archive & ArchivedLog;

/**
 * Lists the store once, and reads the manifests of backups that are not in `known`, which it adds to it: a
 * manifest never changes.
 */
export async function listArchive(
  archive: LogArchive,
  known: Map<string, BaseBackup | undefined>,
  signal: AbortSignal,
): Promise<ListedArchive> {
  const { storage, folder } = archive;
  const paths = await storage.list(folder, signal);
  const objects = paths.flatMap((path) => objectOf(path, folder) ?? []);
  for (const object of objects) if (!known.has(object)) known.set(object, await readBase(archive, object, signal));
  return { bases: objects.flatMap((object) => known.get(object) ?? []), ...logAmong(paths, folder) };
}

/** The backup whose manifest the path is. */
function objectOf(path: string, folder: string): string | undefined {
  const name = path.slice(folder.length + 1);
  return name.includes("/") || !name.endsWith(".json") ? undefined : path.slice(0, -".json".length);
}

/** Undefined when the log cannot be replayed onto it, or it cannot be used at all. */
async function readBase(
  { storage, keyNamed }: LogArchive,
  object: string,
  signal: AbortSignal,
): Promise<BaseBackup | undefined> {
  try {
    const { backup } = decodeManifest(await storage.read(`${object}.json`, manifestBytesMax, signal), object, keyNamed);
    const { log, position } = backup;
    if (log === undefined) return undefined;
    return { name: object, timeline: log.timeline, start: log.start, position, takenAtMs: log.endedAtMs };
  } catch (error) {
    // A backup that is damaged, or deleted meanwhile, must not hide the others.
    const unusable = ["BackupDamaged", "BackupMissing", "KeyMissing", "KeyInvalid"] as const;
    if (unusable.some((reason) => isTransferError(error, reason))) return undefined;
    throw error;
  }
}
