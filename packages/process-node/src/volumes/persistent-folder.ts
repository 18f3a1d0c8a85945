import { chmodSync, lstatSync, mkdirSync } from "node:fs";

/**
 * Open to each user of a pod at first, as the folders of other provisioners; fsGroup narrows it. Kept as it
 * is later.
 */
export function preparePersistentFolder(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
}
