/**
 * Reports what end-to-end tests have left on this machine: the memory of nodes whose data folder is gone, and
 * the processes that still name it.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { processesWith } from "./processes.ts";

const sharedMemory = "/dev/shm";
const prefix = `setpoint-${process.getuid?.() ?? 0}-`;

let before: ReadonlySet<string> = new Set();

export function setup(): void {
  before = new Set(abandoned());
}

export function teardown(): void {
  for (const folder of abandoned().filter((each) => !before.has(each))) {
    const processes = processesWith(folder).join(", ");
    console.warn(`Left behind: ${folder} of ${ownerOf(folder)}, processes: ${processes === "" ? "none" : processes}`);
  }
}

function abandoned(): readonly string[] {
  if (!existsSync(sharedMemory)) return [];
  const folders = readdirSync(sharedMemory).filter((name) => name.startsWith(prefix));
  return folders.map((name) => join(sharedMemory, name)).filter((folder) => !existsSync(ownerOf(folder)));
}

/** The node's folder, to which a link in its memory leads; the memory itself without one. */
function ownerOf(folder: string): string {
  const link = join(folder, "owner");
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(link) : folder;
}
