/** Users of an image that no package of it brings along. */
import { constants, fstatSync, openSync, closeSync, writeSync } from "node:fs";
import { placeInRoot } from "./root-path.ts";

/** Each user has a group of its name and number, and no password. */
export function addUsers(directory: string, users: Readonly<Record<string, number>>): void {
  for (const [name, id] of Object.entries(users)) {
    addLine(directory, "/etc/passwd", `${name}:x:${id}:${id}::/nonexistent:/usr/sbin/nologin`);
    addLine(directory, "/etc/group", `${name}:x:${id}:`);
  }
}

function addLine(directory: string, path: string, line: string): void {
  placeInRoot(directory, path, (folder, name) => {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const file = openSync(folder.entry(name), flags, 0o644);
    try {
      if (fstatSync(file).isFile()) writeSync(file, `${line}\n`);
    } finally {
      closeSync(file);
    }
  });
}
