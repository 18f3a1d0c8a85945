/** The devices of the host, which a privileged container gets. */
import { readdirSync, statSync, type Stats } from "node:fs";
import { join } from "node:path";

export interface OciDevice {
  readonly path: string;
  readonly type: "b" | "c";
  readonly major: number;
  readonly minor: number;
  readonly fileMode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Every container has them of its own. */
const ownEntries: ReadonlySet<string> = new Set(
  "console core fd full hugepages mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero".split(" "),
);
const modeBits = 0o7777;

export function hostDevices(folder: string = "/dev"): readonly OciDevice[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !ownEntries.has(name));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return hostDevices(path);
    if (!entry.isBlockDevice() && !entry.isCharacterDevice()) return [];
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [device(path, stats)];
  });
}

function device(path: string, stats: Stats): OciDevice {
  const { rdev, mode, uid, gid } = stats;
  return {
    path,
    type: stats.isBlockDevice() ? "b" : "c",
    // As the C library's major() and minor().
    major: ((rdev >>> 8) & 0xfff) + Math.floor(rdev / 2 ** 44) * 2 ** 12,
    minor: (rdev & 0xff) + (Math.floor(rdev / 2 ** 12) & 0xffffff00),
    fileMode: mode & modeBits,
    uid,
    gid,
  };
}
