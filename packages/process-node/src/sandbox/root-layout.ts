/**
 * The root of a container, composed of binds: every entry of the image is bound read-only, except that
 * folders which must hold something of the container's own (mount points, /etc/resolv.conf, /var, …) are its
 * own and their other entries bound into them. So images are shared and never written, and a mount point need
 * not exist in the image. All mount points are made beforehand in a folder of the node, so nothing that an
 * image or a volume holds is followed when they are mounted.
 */
import { chmodSync, lchownSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
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
const sandboxFolders = ["/proc", "/dev", "/tmp", "/run", "/var/tmp"];

/** Not taken from the image, and empty: the host's devices and kernel objects do not concern a pod. */
const emptyFolders = ["/sys"];

const sticky = 0o1777;
const folderModes: Readonly<Record<string, number>> = { "/tmp": sticky, "/var/tmp": sticky, "/root": 0o700 };

/** Guards against an image that would need tens of thousands of binds. */
const bindsMax = 8_000;

export interface MountPoint {
  /** Canonical in the container. */
  readonly path: string;
  readonly isFolder: boolean;
}

export interface RootLayout {
  readonly folders: readonly string[];
  /** Path and what the link says. */
  readonly links: readonly (readonly [path: string, text: string])[];
  /** Entries of the image, by the path that they have in the image and in the container. */
  readonly binds: readonly MountPoint[];
  readonly mountPoints: readonly MountPoint[];
}

/** How the root is composed of the image at `root` so that each mount point can be mounted on. */
export function rootLayout(root: string, mountPoints: readonly MountPoint[]): RootLayout {
  const opened = openedFolders(mountPoints);
  const replaced = new Set([...mountPoints.map(({ path }) => path), ...sandboxFolders, ...emptyFolders]);
  const links: (readonly [string, string])[] = [];
  const binds: MountPoint[] = [];
  const layOut = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (replaced.has(path)) continue;
      if (entry.isSymbolicLink()) links.push([path, readlinkSync(join(root, path))]);
      else if (entry.isDirectory() && opened.has(path)) layOut(path);
      else if (entry.isDirectory() || entry.isFile()) binds.push({ path, isFolder: entry.isDirectory() });
      if (binds.length > bindsMax)
        throw new RangeError(`Cannot lay out ${root}: more than ${bindsMax} entries; mount volumes deeper`);
    }
  };
  layOut("/");
  const linked = new Set(links.map(([path]) => path));
  const folders = [...opened, ...sandboxFolders, ...emptyFolders].filter((path) => !linked.has(path));
  return { folders: [...new Set(folders)].sort(), links, binds, mountPoints };
}

/**
 * The folders that the container has of its own: those a program may write to and all parents of mount
 * points.
 */
function openedFolders(mountPoints: readonly MountPoint[]): ReadonlySet<string> {
  const opened = new Set(ownFolders);
  for (const { path } of mountPoints) for (let at = dirname(path); at !== "/"; at = dirname(at)) opened.add(at);
  return opened;
}

/** Writes folders, links and empty mount points into `directory`, which is the node's own and empty. */
export function writeSkeleton(layout: RootLayout, directory: string, owner?: { uid: number; gid: number }): void {
  const made: string[] = [];
  const folder = (path: string): void => {
    mkdirSync(join(directory, path), { recursive: true });
    chmodSync(join(directory, path), folderModes[path] ?? 0o755);
    made.push(path);
  };
  for (const path of layout.folders) folder(path);
  for (const [path, text] of layout.links) {
    symlinkSync(text, join(directory, path));
    made.push(path);
  }
  for (const { path, isFolder } of [...layout.binds, ...layout.mountPoints]) {
    if (isFolder) folder(path);
    else {
      writeFileSync(join(directory, path), "");
      made.push(path);
    }
  }
  if (owner !== undefined) for (const path of made) lchownSync(join(directory, path), owner.uid, owner.gid);
}
