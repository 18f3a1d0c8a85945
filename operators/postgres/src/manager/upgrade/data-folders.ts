/** Where an instance has its data of each major version, and how they take each other's place. */
import {
  constants,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { paths } from "../paths.ts";

/** In data that pg_upgrade has completed: the attempt that it was. */
const marker = "setpoint-upgrade";
const mebibyte = 1 << 20;
/** The server that receives the data writes this much of its own. */
const ownBytes = 256 * mebibyte;

/** Of the data in a folder; undefined without any. */
export function majorVersionOf(folder: string): string | undefined {
  const file = join(folder, "PG_VERSION");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

/** Where the data from before an upgrade are kept. */
export function safetyFolder(version: string): string {
  return `${paths.data}.${version}`;
}

/** The major version of the safety copy, if there is one. */
export function safetyCopyVersion(): string | undefined {
  const names = existsSync(paths.volume) ? readdirSync(paths.volume) : [];
  return names.map((name) => /^pgdata\.(\d+)$/.exec(name)?.[1]).find((each) => each !== undefined);
}

export function dropSafetyCopy(version: string): void {
  rmSync(safetyFolder(version), { recursive: true, force: true });
}

export function isUpgraded(folder: string, id: string): boolean {
  const file = join(folder, marker);
  return existsSync(file) && readFileSync(file, "utf8") === id;
}

/** From now on the folder counts as complete. */
export function markUpgraded(folder: string, id: string): void {
  writeFileSync(join(folder, marker), id, { flush: true });
}

/** The upgraded data become those of the instance, and the old ones the safety copy. */
export function takeUpgraded(from: string): void {
  if (existsSync(paths.data)) renameSync(paths.data, safetyFolder(from));
  writeFileSync(paths.analyze, "");
  renameSync(paths.newData, paths.data);
}

/** The safety copy becomes the data of the instance again. What it replaces is gone. */
export function takeSafetyCopy(version: string): void {
  rmSync(paths.newData, { recursive: true, force: true });
  // Not removed first: a process that is killed meanwhile must find the data that are complete.
  if (existsSync(paths.data)) renameSync(paths.data, paths.newData);
  rmSync(paths.analyze, { force: true });
  renameSync(safetyFolder(version), paths.data);
  rmSync(paths.newData, { recursive: true, force: true });
}

/** Whether files can share their blocks, so that a copy takes no time and no space. */
export function canClone(): boolean {
  const [from, to] = [join(paths.data, "PG_VERSION"), join(paths.volume, "clone.try")];
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(to, { force: true });
  }
}

/** Why the volume has no room for a second copy of the data. */
export function spaceProblem(): string | undefined {
  if (canClone()) return undefined;
  const { bavail, bsize } = statfsSync(paths.volume);
  const [needed, free] = [bytesOf(join(paths.data, "base")) + ownBytes, bavail * bsize];
  if (free >= needed) return undefined;
  const [neededMi, freeMi] = [needed, free].map((each) => Math.ceil(each / mebibyte));
  return `the volume has ${freeMi}Mi free, expected ${neededMi}Mi for a copy of the data; raise spec.storage.size`;
}

function bytesOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((each) => each.isFile());
  return entries.reduce((sum, { parentPath, name }) => sum + sizeOf(join(parentPath, name)), 0);
}

/** A running server removes files. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The next start recovers along the present timeline and then begins one that is newer than all that others
 * have begun: PostgreSQL takes the first without a history.
 */
export function goOnAfter(folder: string, { own, newest }: { readonly own: number; readonly newest: number }): void {
  for (let each = own + 1; each <= newest; each++) writeHistory(folder, each);
  writeFileSync(paths.recovery, "restore_command = 'false'\nrecovery_target_timeline = 'current'\n");
  writeFileSync(join(folder, "recovery.signal"), "");
}

/** A history without a parent. Replicas ask for that of each timeline but the first. */
export function writeHistory(folder: string, timeline: number): void {
  writeFileSync(
    join(folder, "pg_wal", `${hexadecimal(timeline)}.history`),
    "# This timeline has no parent: it is of another major version.\n",
  );
}

export function hexadecimal(timeline: number): string {
  return timeline.toString(16).toUpperCase().padStart(8, "0");
}
