/**
 * A private folder in memory for what must never reach a disk: Secrets, tokens, configurations with secret
 * variables. The kernel's shared memory is a tmpfs that every user may use, so root and ordinary users get it
 * in the same way.
 */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync, realpathSync, rmSync, statfsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { unmountBeneath } from "./memory-volume.ts";
import { preparePrivateFolder } from "../host/private-folder.ts";

const sharedMemory = "/dev/shm";
const tmpfsMagic = 0x01_02_19_94;
/** Names the data folder that the memory belongs to, so that it can be removed when that one is gone. */
const ownerLink = "owner";

/**
 * The memory folder that belongs to the data folder, empty or as it was left. A host without /dev/shm keeps
 * it on disk.
 */
export function prepareMemoryFolder(dataFolder: string): string {
  const folder = memoryFolderOf(dataFolder);
  preparePrivateFolder(folder);
  if (lstatSync(join(folder, ownerLink), { throwIfNoEntry: false }) === undefined)
    symlinkSync(realpathSync(dataFolder), join(folder, ownerLink));
  return folder;
}

/** Where the memory of an existing data folder is. */
export function memoryFolderOf(dataFolder: string): string {
  return isMemory(sharedMemory) ? join(sharedMemory, nameOf(dataFolder)) : join(dataFolder, "memory");
}

/** The memory folders of nodes whose data folder is gone. */
export function abandonedMemory(folder: string = sharedMemory): readonly string[] {
  if (!isMemory(folder)) return [];
  const prefix = namePrefix();
  const own = readdirSync(folder).filter((each) => each.startsWith(prefix));
  return own.map((name) => join(folder, name)).filter((each) => isAbandoned(each));
}

/** The folder with all that is mounted in it. */
export function removeMemory(folder: string): void {
  unmountBeneath(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** What another user put there under such a name is never read. */
function isAbandoned(folder: string): boolean {
  if (lstatSync(folder, { throwIfNoEntry: false })?.uid !== process.getuid?.()) return false;
  const owner = readLink(join(folder, ownerLink));
  return owner !== undefined && lstatSync(owner, { throwIfNoEntry: false }) === undefined;
}

function nameOf(dataFolder: string): string {
  const digest = createHash("sha256").update(realpathSync(dataFolder)).digest("hex");
  return `${namePrefix()}${digest.slice(0, 24)}`;
}

function namePrefix(): string {
  return `setpoint-${process.getuid?.() ?? 0}-`;
}

/** Undefined too for a folder of another user: only its owner can read it. */
function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isMemory(folder: string): boolean {
  try {
    return statfsSync(folder).type === tmpfsMagic;
  } catch {
    return false;
  }
}
