/**
 * A private folder in memory for what must never reach a disk: Secrets, tokens, configurations with secret variables. The
 * kernel's shared memory is a tmpfs that every user may use, so root and ordinary users get it in the same way.
 */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync, realpathSync, rmSync, statfsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { unmountBeneath } from "./memory-volume.ts";
import { preparePrivateFolder } from "../private-folder.ts";

const sharedMemory = "/dev/shm";
const tmpfsMagic = 0x01_02_19_94;
/** Names the data folder that the memory belongs to, so that it can be removed when that one is gone. */
const ownerLink = "owner";

/** The memory folder that belongs to the data folder, empty or as it was left. A host without /dev/shm keeps it on disk. */
export function prepareMemoryFolder(dataFolder: string): string {
  const folder = isMemory(sharedMemory) ? join(sharedMemory, nameOf(dataFolder)) : join(dataFolder, "memory");
  preparePrivateFolder(folder);
  if (lstatSync(join(folder, ownerLink), { throwIfNoEntry: false }) === undefined)
    symlinkSync(realpathSync(dataFolder), join(folder, ownerLink));
  return folder;
}

/** Removes what nodes left in memory whose data folder is gone, as after a kill of a cluster that kept nothing. */
export function removeAbandonedMemory(folder: string = sharedMemory): void {
  if (!isMemory(folder)) return;
  const prefix = namePrefix();
  for (const name of readdirSync(folder).filter((each) => each.startsWith(prefix))) {
    const owner = readLink(join(folder, name, ownerLink));
    if (owner === undefined || lstatSync(owner, { throwIfNoEntry: false }) !== undefined) continue;
    unmountBeneath(join(folder, name));
    rmSync(join(folder, name), { recursive: true, force: true });
  }
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
