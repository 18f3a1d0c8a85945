/** Segments of an engine's log in a store, beside its backups. */
import { createHash } from "node:crypto";
import type { EngineLog } from "../engine/log.ts";
import { TransferError } from "../engine/transfer-error.ts";
import type { BackupStorage } from "../storage/backup-storage.ts";
import type { ArchivedSegment } from "./archive-window.ts";

/** A segment is read as a whole. PostgreSQL's have 16 MiB, or up to 1 GiB when a user says so. */
const segmentBytesMax = 1_073_741_824;

/** Where the segments of an instance are. */
export interface LogArchive {
  readonly storage: BackupStorage;
  readonly folder: string;
  readonly log: EngineLog;
}

/**
 * Stores a segment. The same segment again succeeds: an engine repeats what it got no answer for.
 *
 * Errors: `BackupDamaged` when other bytes have the name. They stay: an instance restored or promoted
 * by mistake must not replace the history of another one.
 */
export async function archiveSegment(
  { storage, folder, log }: LogArchive,
  name: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<"stored" | "present"> {
  log.read(name, bytes);
  const path = `${folder}/${name}`;
  if ((await storage.stat(path, signal)) !== undefined) {
    const present = await storage.read(path, segmentBytesMax, signal);
    if (digestOf(present) === digestOf(bytes)) return "present";
    throw new TransferError(
      "BackupDamaged",
      `Cannot archive "${name}": ${storage.place} has other bytes under this name; give this instance an archive of its own.`,
    );
  }
  await storage.write(path, bytes, signal);
  return "stored";
}

/** Reads one segment, and checks that it is whole. */
export async function readSegment(
  { storage, folder, log }: LogArchive,
  name: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = await storage.read(`${folder}/${name}`, segmentBytesMax, signal);
  log.read(name, bytes);
  return bytes;
}

/** What the store has. It reads all segments: callers remember those that they know. */
export async function listSegments(
  archive: LogArchive,
  known: ReadonlyMap<string, ArchivedSegment>,
  signal: AbortSignal,
): Promise<readonly ArchivedSegment[]> {
  const { storage, folder, log } = archive;
  const paths = await storage.list(folder, signal);
  const segments: ArchivedSegment[] = [];
  for (const path of paths) {
    const name = path.slice(folder.length + 1);
    const seen = known.get(name);
    segments.push(seen ?? { name, ...log.read(name, await storage.read(path, segmentBytesMax, signal)) });
  }
  return segments;
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
