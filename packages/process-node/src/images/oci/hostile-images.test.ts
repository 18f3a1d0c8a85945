/** Archives whose entries lead to a folder of this test, outside of everything that an image may reach. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "@setpoint/host/system";
import {
  dockerFiles,
  type FixtureEntry,
  layoutFiles,
  linkChain,
  sha256,
  tarOf,
  tarOfFiles,
  writeFiles,
} from "./archive.fixture.ts";
import { archiveLimits } from "./limits.ts";
import { loadImages, type LoadImagesOptions } from "./load-images.ts";
import { LoadedImages } from "./loaded-images.ts";

let canary: string;

beforeEach(() => {
  canary = mkdtempSync(join(tmpdir(), "process-node-canary-"));
  mkdirSync(join(canary, "kept"));
  writeFileSync(join(canary, "kept/secret"), "canary", { mode: 0o600 });
});

afterEach(() => {
  expect(readdirSync(canary)).toEqual(["kept"]);
  expect(readdirSync(join(canary, "kept"))).toEqual(["secret"]);
  expect(readFileSync(join(canary, "kept/secret"), "utf8")).toBe("canary");
  expect(statSync(join(canary, "kept/secret"))).toMatchObject({ uid: process.getuid?.(), mode: 0o100600, nlink: 1 });
  rmSync(canary, { recursive: true });
});

function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Loading {
  readonly directory: string;
  readonly path: string;
  readonly load: (more?: Partial<LoadImagesOptions>) => Promise<unknown>;
}

/** An image of these layers, and a cache of its own; a load leaves nothing unfinished there. */
function prepare(...layers: readonly Buffer[]): Loading {
  const directory = temporaryFolder();
  const path = writeFiles(temporaryFolder(), layoutFiles({ layers, name: "evil:1" }));
  onTestFinished(() => expect(readdirSync(directory).filter((name) => name.includes("partial"))).toEqual([]));
  return { directory, path, load: (more) => loadImages({ clock: systemClock, directory, path, ...more }) };
}

/** Loads an image of these layers; answers the cache. */
async function load(...layers: readonly (readonly FixtureEntry[])[]): Promise<string> {
  const { directory, load: loadIt } = prepare(...(await Promise.all(layers.map(tarOf))));
  await loadIt();
  return directory;
}

/** The digest of a JSON document that is a blob of the layout. */
function writeBlob(layout: string, value: object): string {
  const content = JSON.stringify(value);
  writeFileSync(join(layout, `blobs/${sha256(content).replace(":", "/")}`), content);
  return sha256(content);
}

function records(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, ""]));
}

/** The size of the first entry is a binary number below zero. */
function withNegativeSize(archive: Buffer): Buffer {
  const changed = Buffer.from(archive);
  changed.fill(0xff, 124, 135).fill(0, 135, 136);
  // The checksum is taken with its own field full of spaces.
  changed.fill(" ", 148, 156);
  const sum = changed.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return changed;
}

/** The one image of the cache. */
function rootIn(directory: string): string {
  const [root = ""] = readdirSync(directory).filter((name) => name.startsWith("oci-"));
  return join(directory, root);
}

const setuid: FixtureEntry = { name: "l0/planted", content: "#!/bin/sh", mode: 0o4755 };

test("a file at the end of 41 links is refused, with the image and the path", async () => {
  await expect(load([...linkChain(41, canary), setuid])).rejects.toThrow(
    /image "docker.io\/library\/evil:1": entry "l0\/planted": path "\/l0" has more than 40 links \(ELOOP\)/,
  );
});

test("a file at the end of 40 links lands inside of the image", async () => {
  const directory = await load([...linkChain(40, canary), setuid]);
  expect(lstatSync(join(rootIn(directory), canary, "planted")).mode & 0o7777).toBe(0o4755);
});

test.each<readonly [string, readonly FixtureEntry[]]>([
  ["a folder", [{ name: "l0/planted", type: "directory" }]],
  ["a folder below it", [{ name: "l0/a/b/c", type: "directory" }]],
  ["a symlink", [{ name: "l0/planted", type: "symlink", linkname: "/" }]],
  ["a whiteout of a folder of the host", [{ name: "l0/.wh.kept" }]],
  ["an opaque whiteout", [{ name: "l0/.wh..wh..opq" }]],
  [
    "a hard link to a file of the host",
    [{ name: "mine", type: "link", linkname: "l0/kept/secret", mode: 0o777, uid: 0 }],
  ],
  [
    "a hard link into the host",
    [
      { name: "a", content: "x" },
      { name: "l0/planted", type: "link", linkname: "a" },
    ],
  ],
  ["a new mode of a folder of the host", [{ name: "l0/kept", type: "directory", mode: 0o777 }]],
  ["a file of the host in place of", [{ name: "l0/kept", content: "x" }]],
])("%s at the end of 41 links is refused", async (_, entries) => {
  await expect(load([...linkChain(41, canary), ...entries])).rejects.toThrow("has more than 40 links (ELOOP)");
  await expect(load(linkChain(41, canary), entries)).rejects.toThrow("has more than 40 links (ELOOP)");
});

test.each<readonly [string, object, RegExp]>([
  ["entries", { entriesMax: 3 }, /expected at most 3 entries/],
  ["bytes of all paths", { pathBytesMax: 20 }, /expected paths of at most 20 bytes together/],
  ["bytes of a file", { fileBytesMax: 9_999 }, /entry "big" has 10000 bytes: expected at most 9999 for a file/],
  ["bytes of a layer", { layerBytesMax: 9_999 }, /expected at most 9999 bytes in an unpacked layer/],
  ["bytes of an image", { bytesMax: 9_999 }, /expected at most 9999 bytes when unpacked/],
  [
    "headers",
    { headerBytesFree: 500, headerBytesPerEntry: 600 },
    /expected at most \d+ bytes of headers for \d+ entries/,
  ],
  ["ratio", { ratioFreeBytes: 100, ratioMax: 2 }, /\d+ bytes unpack to \d+: expected at most 2 bytes for each/],
  ["time", { loadMsMax: -1 }, /expected to be unpacked within -0.001 s/],
])("the limit of %s holds", async (_, limits, message) => {
  const small = Array.from({ length: 2_000 }, (_, i) => ({ name: `small/${i}`, content: "x" }));
  const tar = await tarOf([{ name: "big", content: "0".repeat(10_000) }, ...small]);
  const { directory, load: loadIt } = prepare(gzipSync(tar), tar);
  await expect(loadIt({ limits: { ...archiveLimits, ...limits } })).rejects.toThrow(message);
  expect(readdirSync(directory)).toEqual([]);
});

test("an image of what images in common use have passes the limits", async () => {
  const deep = `${"node_modules/package/".repeat(60)}index.js`;
  const long = `${`${"x".repeat(100)}/`.repeat(20)}file`;
  const directory = await load([
    { name: deep, content: "x" },
    { name: long, content: "x" },
    { name: "zeros", content: "\0".repeat(5_000_000) },
  ]);
  for (const path of [deep, long]) expect(existsSync(join(rootIn(directory), path))).toBe(true);
});

test.each<readonly [string, FixtureEntry, string]>([
  ["257 folders", { name: "d/".repeat(258), type: "directory" }, "has more than 256 folders inside each other"],
  ["a path of 3,073 bytes", { name: `${"x".repeat(200)}/`.repeat(16), type: "directory" }, "has a path of 3216 bytes"],
  ["a name of 256 bytes", { name: "x".repeat(256), content: "x" }, "cannot be written: ENAMETOOLONG"],
  ["a link of 5,000 bytes", { name: "l", type: "symlink", linkname: "x/".repeat(2_500) }, "ENAMETOOLONG"],
  ["a symlink without a target", { name: "l", type: "symlink", linkname: "" }, "cannot be written: ENOENT"],
  ["a NUL byte in a path", { name: "a", pax: { path: "a\0b" } }, 'entry "a\\u0000b" contains a NUL byte'],
  ["a NUL byte in a link", { name: "a", type: "symlink", linkname: "b", pax: { linkpath: "b\0" } }, "a NUL byte"],
  ["a sparse file", { name: "a", content: "1", pax: { "GNU.sparse.major": "1" } }, "is of an unknown kind"],
  ["a pax header of thousands of records", { name: "a", pax: records(257) }, "records: expected at most 256"],
  ["a hard link to a folder", { name: "a", type: "link", linkname: "etc" }, "expected a file that comes before it"],
  ["a hard link to itself", { name: "a", type: "link", linkname: "a" }, "expected a file that comes before it"],
  ["a hard link to the root", { name: "a", type: "link", linkname: "/" }, "expected a file that comes before it"],
  ["a folder in a file", { name: "file/a", content: "x" }, 'expects "/file" to be a folder (ENOTDIR)'],
  ["a whiteout of ..", { name: "etc/.wh..." }, "is a whiteout: expected the name of a file"],
  ["a whiteout of nothing", { name: "etc/.wh." }, "is a whiteout: expected the name of a file"],
])("%s is refused with the entry", async (_, entry, message) => {
  const before: readonly FixtureEntry[] = [
    { name: "etc", type: "directory" },
    { name: "file", content: "x" },
  ];
  await expect(load([...before, entry])).rejects.toThrow(message);
});

test("folders cannot be made deeper than the limit by links that begin where others end", async () => {
  const entries: readonly FixtureEntry[] = [
    { name: "d/".repeat(200), type: "directory" },
    { name: "deep", type: "symlink", linkname: "d/".repeat(200) },
    { name: `deep/${"e/".repeat(100)}`, type: "directory" },
  ];
  await expect(load(entries)).rejects.toThrow("has more than 256 folders inside each other");
});

test.each<readonly [string, readonly FixtureEntry[], object, string]>([
  [
    "folders that paths name",
    [{ name: `${"d/".repeat(200)}f`, content: "x" }],
    { entriesMax: 150 },
    "expected at most 150 entries",
  ],
  [
    "folders that links name",
    [
      { name: "l", type: "symlink", linkname: "d/".repeat(200) },
      { name: "l/f", content: "x" },
    ],
    { entriesMax: 150 },
    "expected at most 150 entries",
  ],
  [
    "bytes of paths behind links",
    [
      { name: "l", type: "symlink", linkname: "x".repeat(200) },
      ...Array.from({ length: 20 }, (_, i) => ({ name: `l/${i}`, content: "x" })),
    ],
    { pathBytesMax: 2_000 },
    "expected paths of at most 2000 bytes together",
  ],
])("%s count towards the limits", async (_, entries, limits, message) => {
  const { directory, load: loadIt } = prepare(await tarOf(entries));
  await expect(loadIt({ limits: { ...archiveLimits, ...limits } })).rejects.toThrow(message);
  expect(readdirSync(directory)).toEqual([]);
});

test("links that change while a layer is written are followed as they are then", async () => {
  const directory = await load([
    { name: "a/one/file", content: "x" },
    { name: "link", type: "symlink", linkname: "a/one" },
    { name: "link/before", content: "x" },
    { name: "link", type: "symlink", linkname: "a/two" },
    { name: "link/after", content: "x" },
    { name: "a/one", type: "symlink", linkname: canary },
    { name: "a/one/inside", content: "x" },
    { name: "link", type: "directory" },
    { name: "link/own", content: "x" },
  ]);
  const root = rootIn(directory);
  expect(readdirSync(join(root, "a/two"))).toEqual(["after"]);
  expect(readdirSync(join(root, "link"))).toEqual(["own"]);
  expect(readdirSync(join(root, canary))).toEqual(["inside"]);
});

test("hard links to links stay links, and owners and modes of what they lead to stay", async () => {
  const directory = await load([
    { name: "l", type: "symlink", linkname: join(canary, "kept/secret") },
    { name: "hard", type: "link", linkname: "l", mode: 0o777, uid: 7 },
    { name: "file", content: "x", mode: 0o640 },
    { name: "second", type: "link", linkname: "/file" },
    { name: "third", type: "link", linkname: "./second" },
  ]);
  const root = rootIn(directory);
  expect(lstatSync(join(root, "hard")).isSymbolicLink()).toBe(true);
  expect(lstatSync(join(root, "third"))).toMatchObject({ nlink: 3, mode: 0o100640 });
});

test("an opaque marker empties a folder of lower layers, wherever it stands and what links lead to it", async () => {
  const lower: readonly FixtureEntry[] = [
    { name: "a/old", content: "x" },
    { name: "a/sub/old", content: "x" },
    { name: "link", type: "symlink", linkname: "a" },
  ];
  const upper: readonly FixtureEntry[] = [
    { name: "a/sub/new", content: "x" },
    { name: "link/.wh..wh..opq" },
    { name: "a/late", content: "x" },
    { name: "a/.wh..wh..opq" },
  ];
  const root = rootIn(await load(lower, upper));
  expect(readdirSync(join(root, "a")).sort()).toEqual(["late", "sub"]);
  expect(readdirSync(join(root, "a/sub"))).toEqual(["new"]);
});

test("ids, times and modes that are none are harmless", async () => {
  const root = rootIn(
    await load([
      { name: "a", content: "x", uid: 8_000_000, mtime: new Date(8.64e15) },
      { name: "b/", type: "directory", uid: 65_536, mode: 0o7777 },
      { name: "/abs/olute", content: "x" },
      { name: "new\nline/\u001b[31m", content: "x" },
    ]),
  );
  expect(readdirSync(root).sort()).toEqual(["a", "abs", "b", "new\nline"]);
  if (process.getuid?.() === 0) expect(lstatSync(join(root, "a")).uid).toBe(65_534);
});

test("a load that is stopped while it unpacks leaves nothing and frees the lock", async () => {
  const entries = Array.from({ length: 5_000 }, (_, i) => ({ name: `f/${i}`, content: "x" }));
  const { directory, load: loadIt } = prepare(await tarOf(entries));
  const stop = new AbortController();
  const loading = loadIt({ signal: stop.signal });
  await vi.waitFor(() => expect(readdirSync(directory).some((name) => name.startsWith("oci-"))).toBe(true));
  stop.abort(new Error("stopped by SIGTERM"));
  await expect(loading).rejects.toThrow("stopped by SIGTERM");
  expect(readdirSync(directory)).toEqual([]);
  await loadIt();
});

test("two loads of the same image at once give one image", async () => {
  const { directory, load: loadIt } = prepare(await tarOf([{ name: "a", content: "x" }]));
  await Promise.all([loadIt(), loadIt({ name: "other:1" }), loadIt()]);
  expect(readdirSync(rootIn(directory))).toEqual(["a"]);
  expect(new LoadedImages(directory).list()).toHaveLength(2);
});

test("a name that stands for Debian packages is not taken without a word", async () => {
  const { directory, load: loadIt } = prepare(await tarOf([{ name: "a", content: "x" }]));
  const name = "quay.io/coreos/etcd:v3.5.16";
  await expect(loadIt({ name })).rejects.toThrow(
    `nodes have an image "${name}" already (Debian trixie: etcd-server, etcd-client): load this one under another name with --name IMAGE, or in its place with --replace-catalogue`,
  );
  expect(readdirSync(directory)).toEqual([]);
  await loadIt({ name, replacesCatalogue: true });
  await loadIt({ name: "quay.io/coreos/etcd:v3.6.16" });
});

test("what is no regular file, in a layout or as an archive, is not read", async () => {
  const { path, load: loadIt } = prepare(await tarOf([{ name: "a", content: "x" }]));
  const index = join(path, "index.json");
  rmSync(index);
  execFileSync("/usr/bin/mkfifo", [index]);
  await expect(loadIt()).rejects.toThrow("expected an OCI image layout (index.json) or a docker archive");
  await expect(loadIt({ path: index })).rejects.toThrow("expected a file or a folder, got a device or a pipe");
  await expect(loadIt({ path: "/dev/zero" })).rejects.toThrow("expected a file or a folder, got a device or a pipe");
});

test("an index that names itself many times is refused before it is read many times", async () => {
  const { path, load: loadIt } = prepare(await tarOf([{ name: "a", content: "x" }]));
  let entry: object = { digest: writeBlob(path, { schemaVersion: 2, manifests: [] }) };
  for (let depth = 0; depth < 3; depth++)
    entry = { digest: writeBlob(path, { manifests: Array.from({ length: 100 }, () => entry) }) };
  writeFileSync(join(path, "index.json"), JSON.stringify({ manifests: Array.from({ length: 100 }, () => entry) }));
  await expect(loadIt()).rejects.toThrow("expected at most 1000 indexes, manifests and configurations");
});

test("an image with more names than anybody gives is refused", async () => {
  const { path, load: loadIt } = prepare();
  const files = dockerFiles({ layers: [await tarOf([{ name: "a", content: "x" }])], name: "a:1" });
  const tags = Array.from({ length: 101 }, (_, i) => `a:${i}`);
  const manifest = JSON.stringify([{ ...JSON.parse(String(files.get("manifest.json")))[0], RepoTags: tags }]);
  rmSync(join(path, "index.json"));
  writeFiles(path, new Map([...files, ["manifest.json", Buffer.from(manifest)]]));
  await expect(loadIt()).rejects.toThrow("expected at most 100 names of an image, got 101");
});

test("a layout whose files are links is read inside of it", async () => {
  const { path, load: loadIt } = prepare(await tarOf([{ name: "a", content: "x" }]));
  renameSync(join(path, "index.json"), join(canary, "..", "index-outside.json"));
  onTestFinished(() => rmSync(join(canary, "..", "index-outside.json")));
  symlinkSync(join(canary, "..", "index-outside.json"), join(path, "index.json"));
  await expect(loadIt()).rejects.toThrow("expected an OCI image layout (index.json)");
});

test.each<readonly [string, (archive: Buffer) => Buffer]>([
  ["is cut in a file", (archive) => archive.subarray(0, archive.length - 3_000)],
  ["is compressed and cut", (archive) => gzipSync(archive).subarray(0, -40)],
  [
    "is compressed and damaged",
    (archive) => gzipSync(archive).map((byte, i) => (i === 60 ? byte ^ 255 : byte)) as Buffer,
  ],
  ["is compressed by zstd and cut", (archive) => zstdCompressSync(archive).subarray(0, -40)],
  ["is empty", () => Buffer.alloc(0)],
  ["has nothing but zeros", () => Buffer.alloc(10_240)],
  ["has a file of less than no bytes", withNegativeSize],
])("an archive that %s is refused in words", async (_, change) => {
  const file = join(temporaryFolder(), "archive.tar");
  const layers = [await tarOf([{ name: "a", content: "x".repeat(5_000) }])];
  writeFileSync(file, change(await tarOfFiles(layoutFiles({ layers, name: "a:1" }))));
  const { load: loadIt } = prepare();
  await expect(loadIt({ path: file })).rejects.toThrow(/expected (a tar file|an OCI image layout|whole data of gzip)/);
});
