/** Verifies what a restore to a target needs, and fetches it. The way is chosen here, beside the store. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ArchivedFile } from "../archive/archived-file.ts";
import {
  type ComparePositions,
  neededSegments,
  type RecoverableWindow,
  timeOf,
  wayTo,
} from "../archive/archive-window.ts";
import { listArchive, type ListedArchive } from "../archive/list-archive.ts";
import { type LogArchive, readArchived } from "../archive/log-archive.ts";
import type { StoredBackup } from "../engine/stored-backup.ts";
import type { RestoreTarget } from "../engine/target.ts";
import { TransferError } from "../engine/transfer-error.ts";
import { fetchBackup, onDisk, verifyBackup } from "./read-task.ts";
import type { AgentRequest, RestoreWay } from "./request.ts";
import type { Transfer } from "./transfer.ts";

type WayRequest = Extract<AgentRequest, { task: "verifyWay" | "fetchWay" }>;

/** The way of a restore, and its backup. */
export interface FoundWay {
  readonly backup: StoredBackup;
  readonly way: RestoreWay;
}

/**
 * Reads every byte of the backup and of the segments that lead to the target, and throws unless all of them
 * are whole: `TargetUnreachable` when the archive does not lead there.
 */
export async function verifyWay(transfer: Transfer, request: WayRequest): Promise<FoundWay> {
  const found = await findWay(transfer, request);
  const backup = await verifyBackup({ ...transfer, object: found.window.base.name }, request.expected);
  const isFound = await readSegments(found, request.target, transfer.signal);
  if (!isFound) throw unreachable(`no segment has the ${request.target?.kind} "${request.target?.value}"`);
  return { backup, way: found.way };
}

/** Writes the backup as `fetchBackup` does, and the segments and the engine's files to `replayFolder`. */
export async function fetchWay(
  transfer: Transfer,
  request: Extract<WayRequest, { task: "fetchWay" }>,
  { snapshotFolder, replayFolder }: { readonly snapshotFolder: string; readonly replayFolder: string },
): Promise<FoundWay> {
  const found = await findWay(transfer, request);
  const base = { ...transfer, object: found.window.base.name };
  const backup = await fetchBackup(base, request.expected, snapshotFolder);
  const log = join(replayFolder, "log");
  await onDisk(() => mkdir(log, { recursive: true }));
  for (const file of [...found.listed.forks, ...found.segments]) {
    const bytes = await readArchived(found.archive, file, transfer.signal);
    await onDisk(() => writeFile(join(log, file.name), bytes, { flush: true }));
  }
  for (const [name, text] of Object.entries(request.files))
    await onDisk(() => writeFile(join(replayFolder, name), text, { flush: true }));
  transfer.log.info("Fetched log", { segments: found.segments.length, folder: request.folder });
  return { backup, way: found.way };
}

interface Found {
  readonly archive: LogArchive;
  readonly listed: ListedArchive;
  readonly window: RecoverableWindow;
  readonly segments: readonly (ArchivedFile & { readonly start: string })[];
  readonly way: RestoreWay;
}

/** Of all backups, or of the one that the request names. */
async function findWay(transfer: Transfer, { folder, base, target, timeline }: WayRequest): Promise<Found> {
  const archive = archiveOf(transfer, folder);
  const compare: ComparePositions = (a, b) => archive.log.compare(a, b);
  const all = await listArchive(archive, new Map(), transfer.signal);
  const listed = { ...all, bases: all.bases.filter(({ name }) => base === undefined || name === base) };
  if (base !== undefined && listed.bases.length === 0)
    throw unreachable(`the log cannot be replayed onto "${base}": it does not say where its log goes on`);
  const window = wayTo(target, listed, compare, timeline);
  if ("refusal" in window) throw unreachable(window.refusal);
  const segments = neededSegments(window, target, compare);
  return { archive, listed, window, segments, way: wayOf(window, segments.length) };
}

function wayOf({ base, timeline, end, fromMs, toMs }: RecoverableWindow, segments: number): RestoreWay {
  return { object: base.name, timeline, segments, end, from: timeOf(fromMs), to: timeOf(toMs) };
}

function archiveOf({ engine, storage, activeKey, keyNamed }: Transfer, folder: string): LogArchive {
  if (engine.log === undefined) throw new TransferError("RequestInvalid", "This engine has no log to archive.");
  return { storage, folder, log: engine.log, activeKey, keyNamed };
}

/** One after the other, so that one is in memory. Says whether a mark or a transaction is among them. */
async function readSegments(
  { archive, segments }: Found,
  target: RestoreTarget | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { log } = archive;
  const sought =
    target?.kind === "name" || target?.kind === "transaction" ? { kind: target.kind, value: target.value } : undefined;
  let isFound = sought === undefined || log.finds === undefined;
  for (const segment of segments) {
    const bytes = await readArchived(archive, segment, signal);
    if (sought !== undefined) isFound ||= log.finds?.(bytes, sought) ?? true;
  }
  return isFound;
}

function unreachable(why: string): TransferError {
  return new TransferError("TargetUnreachable", `Cannot restore to the target: ${why}.`);
}
