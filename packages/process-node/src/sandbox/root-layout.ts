/**
 * The root of a container, composed of binds: every entry of the image is bound read-only, except that
 * folders which must hold something of the container's own (mount points, /etc/resolv.conf, /var, …) are its
 * own and their other entries bound into them, and that small files right in the root are copies, which its
 * programs may move away. So images are shared and never written, and a mount point need
 * not exist in the image. All mount points are made beforehand in a folder of the node, so nothing that an
 * image or a volume holds is followed when they are mounted.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lchownSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { nodeError } from "../errors.ts";
import { OpenFolder } from "../host/open-folder.ts";
import { TreeWalk } from "../host/tree-walk.ts";
import { resolveInRoot } from "../images/root-path.ts";

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

const copyBytesMax = 64 * 1024;
const setIdBits = 0o6000;

/** Guards against an image that would need tens of thousands of binds or links. */
const entriesMax = 8_000;

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
  readonly copies: readonly FileCopy[];
  readonly mountPoints: readonly MountPoint[];
}

/** A file of the image of which the container has its own. */
export interface FileCopy {
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** How the root is composed of the image at `root` so that each mount point can be mounted on. */
export function rootLayout(root: string, mountPoints: readonly MountPoint[]): RootLayout {
  const own = placesOf(root, ownFolders);
  const sandbox = placesOf(root, sandboxFolders);
  const empty = placesOf(root, emptyFolders);
  const opened = withParents(own, [...sandbox, ...empty, ...mountPoints.map(({ path }) => path)]);
  const replaced = new Set([...mountPoints.map(({ path }) => path), ...sandbox, ...empty]);
  const links: (readonly [string, string])[] = [];
  const binds: MountPoint[] = [];
  const copies: FileCopy[] = [];
  const layOut = (folder: OpenFolder, at: string): void => {
    for (const entry of folder.entries()) {
      const path = join(at, entry.name);
      if (replaced.has(path)) continue;
      using inner = opened.has(path) ? folder.folder(entry.name) : undefined;
      if (inner !== undefined) layOut(inner, path);
      else if (entry.isSymbolicLink()) links.push([path, folder.linkText(entry.name) ?? ""]);
      else if (at === "/" && entry.isFile() && isSmall(folder, entry.name)) copies.push(copyOf(folder, entry.name));
      else if (entry.isDirectory() || entry.isFile()) binds.push({ path, isFolder: entry.isDirectory() });
      if (binds.length + links.length > entriesMax) throw tooMany(at);
    }
  };
  using image = OpenFolder.at(root);
  layOut(image, "/");
  const linked = new Set(links.map(([path]) => path));
  const folders = [...opened, ...sandbox, ...empty].filter((path) => !linked.has(path));
  return { folders: [...new Set(folders)].sort(), links, binds, copies, mountPoints };
}

/** A setuid program stays as the image has it. */
function isSmall(folder: OpenFolder, name: string): boolean {
  const stat = folder.stat(name);
  return stat !== undefined && stat.size <= copyBytesMax && (stat.mode & setIdBits) === 0;
}

function copyOf(folder: OpenFolder, name: string): FileCopy {
  const entry = folder.entry(name);
  const { mode, uid, gid } = statSync(entry);
  return { path: join("/", name), content: readFileSync(entry), mode: mode & 0o777, uid, gid };
}

/** Where the folders are in this image, in which one above them may be a link. */
function placesOf(root: string, paths: readonly string[]): readonly string[] {
  return paths.map((path) => (path === "/" ? path : join(resolveInRoot(root, dirname(path)), basename(path))));
}

function tooMany(folder: string): Error {
  const message = `Cannot lay out the image: more than ${entriesMax} entries have to be mounted, the last in "${folder}"; mount volumes deeper`;
  return nodeError("ERR_CONTAINER_CONFIG", message);
}

/** The folders that the container has of its own: `own`, and all that are above these and the others. */
function withParents(own: readonly string[], others: readonly string[]): ReadonlySet<string> {
  const opened = new Set(own);
  for (const path of [...own, ...others]) for (let at = dirname(path); at !== "/"; at = dirname(at)) opened.add(at);
  return opened;
}

/**
 * Writes folders, links and empty mount points into `directory`, which is the node's own and empty. Nothing
 * is made below a link, because all links are those of the image.
 */
export function writeSkeleton(layout: RootLayout, directory: string, owner?: { uid: number; gid: number }): void {
  const own = (entry: string): void => owner && lchownSync(entry, owner.uid, owner.gid);
  const folder = (path: string): void => {
    using walk = TreeWalk.to(directory, path, { links: "none", makes: true });
    const { self } = folderOf(walk, path);
    chmodSync(self, folderModes[path] ?? 0o755);
    if (owner !== undefined) chownSync(self, owner.uid, owner.gid);
  };
  const place = (path: string, make: (entry: string) => void): void => {
    using walk = TreeWalk.to(directory, dirname(path), { links: "none", makes: true });
    const parent = folderOf(walk, path);
    if (parent.stat(basename(path))?.isDirectory() === true) throw unusable(path, "a folder is in the way of a file");
    make(parent.entry(basename(path)));
    own(parent.entry(basename(path)));
  };
  for (const path of layout.folders) folder(path);
  for (const copy of layout.copies) place(copy.path, (entry) => writeFileSync(entry, copy.content, { flag: "wx" }));
  for (const copy of layout.copies) giveToImageUser(join(directory, copy.path), copy, owner);
  for (const [path, text] of layout.links) place(path, (entry) => symlinkSync(text, entry));
  for (const { path, isFolder } of [...layout.binds, ...layout.mountPoints]) {
    if (isFolder) folder(path);
    else place(path, makeFile);
  }
}

/** The pod's ids begin with that of its user 0. */
function giveToImageUser(entry: string, copy: FileCopy, owner: { uid: number; gid: number } | undefined): void {
  if (owner !== undefined) lchownSync(entry, owner.uid + copy.uid, owner.gid + copy.gid);
  chmodSync(entry, copy.mode);
}

/** A mount point may be there: a file of the image that a volume hides. */
function makeFile(entry: string): void {
  closeSync(openSync(entry, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o644));
}

function folderOf({ folder }: TreeWalk, path: string): OpenFolder {
  if (folder !== undefined) return folder;
  throw unusable(path, "there is no folder to mount in");
}

function unusable(path: string, why: string): Error {
  return nodeError("ERR_CONTAINER_CONFIG", `Cannot mount at "${path}": ${why}`);
}
