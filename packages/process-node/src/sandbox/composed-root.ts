/**
 * The root of a container, composed of binds: every entry of the image is bound read-only, except that folders which must
 * hold something of the container's own (mount points, /etc/resolv.conf, /var, …) are made anew in memory and their other
 * entries bound into them. So images are shared and never written, a mount point need not exist in the image, nothing is
 * copied or left mounted, and no right is needed that a user namespace does not give. What a program writes into such a
 * folder is its own and lasts as long as the container.
 */
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path/posix";

/** Folders that programs expect to be able to write to. */
const ownFolders = [
  "/",
  "/etc",
  "/var",
  "/var/lib",
  "/var/cache",
  "/var/log",
  "/run",
  "/home",
  "/root",
  "/mnt",
  "/opt",
  "/srv",
];

/** Mounted by the sandbox itself, so not taken from the image. */
const sandboxFolders: ReadonlySet<string> = new Set(["/proc", "/dev", "/sys", "/tmp", "/run", "/var/tmp"]);

/** Guards against an image that would need tens of thousands of binds. */
const bindsMax = 8_000;

/** bubblewrap's arguments that lay out `root`; each of `targets` (canonical paths) can be mounted on afterwards. */
export function composedRootArguments(root: string, targets: readonly string[]): string[] {
  const opened = openedFolders(targets);
  const replaced = new Set([...targets, ...sandboxFolders]);
  const args: string[] = [];
  layOut(root, "/", opened, replaced, args);
  for (const folder of [...opened].sort())
    if (folder !== "/" && !exists(join(root, folder))) args.push("--dir", folder);
  return args;
}

/** The folders that are made anew: those a program may write to and all parents of mount points. */
function openedFolders(targets: readonly string[]): ReadonlySet<string> {
  const opened = new Set(ownFolders);
  for (const target of targets) for (let at = dirname(target); at !== "/"; at = dirname(at)) opened.add(at);
  return opened;
}

function layOut(
  root: string,
  folder: string,
  opened: ReadonlySet<string>,
  replaced: ReadonlySet<string>,
  args: string[],
): void {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (replaced.has(path)) continue;
    if (entry.isSymbolicLink()) args.push("--symlink", readlinkSync(join(root, path)), path);
    else if (entry.isDirectory() && opened.has(path)) {
      args.push("--dir", path);
      layOut(root, path, opened, replaced, args);
    } else args.push("--ro-bind", join(root, path), path);
    if (args.length > bindsMax * 3)
      throw new RangeError(`Cannot lay out ${root}: more than ${bindsMax} entries, mount deeper`);
  }
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
