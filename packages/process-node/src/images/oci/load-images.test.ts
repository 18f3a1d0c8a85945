import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "@setpoint/host/system";
import {
  dockerFiles,
  type FixtureEntry,
  layoutFiles,
  sha256,
  tarOf,
  tarOfFiles,
  writeFiles,
} from "./archive.fixture.ts";
import { archiveLimits } from "./limits.ts";
import { loadImages, type LoadImagesOptions } from "./load-images.ts";
import { LoadedImages } from "./loaded-images.ts";

function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A cache to load into. */
function cache() {
  const directory = temporaryFolder();
  const images = new LoadedImages(directory);
  const load = (path: string, more: Partial<LoadImagesOptions> = {}) =>
    loadImages({ clock: systemClock, directory, path, ...more });
  const read = (name: string, path: string): string =>
    readFileSync(join(directory, images.folderOf(images.find(name)?.id ?? "none"), path), "utf8");
  return { directory, images, load, read };
}

const hello: readonly FixtureEntry[] = [
  { name: "./", type: "directory" },
  { name: "etc/", type: "directory" },
  { name: "etc/greeting", content: "hello" },
  { name: "bin/run", content: "#!/bin/sh", mode: 0o755 },
];
const config = {
  Env: ["PATH=/bin", "A=b=c"],
  Entrypoint: ["/bin/run"],
  Cmd: ["now"],
  WorkingDir: "/etc",
  User: "65532",
};

/** A layout on disk with one image of these layers. */
async function layout(layers: readonly (readonly FixtureEntry[])[], name = "candy:1"): Promise<string> {
  const tars = await Promise.all(layers.map(tarOf));
  return writeFiles(temporaryFolder(), layoutFiles({ layers: tars, config, name }));
}

test("an OCI layout folder becomes an image with the configuration that starts it", async () => {
  const { load, read, images } = cache();
  const [loaded] = await load(await layout([hello]));
  expect(loaded).toMatchObject({
    name: "docker.io/library/candy:1",
    config: {
      env: { PATH: "/bin", A: "b=c" },
      entrypoint: ["/bin/run"],
      command: ["now"],
      workingDirectory: "/etc",
      user: "65532",
    },
  });
  expect(read("candy:1", "etc/greeting")).toBe("hello");
  expect(images.find("docker.io/library/candy:1")).toEqual(images.find("candy:1"));
  expect(images.find("candy:2")).toBeUndefined();
  expect(images.find(`candy@${loaded?.manifestDigest}`)?.id).toBe(loaded?.id);
  expect(images.find(`candy@${sha256("other")}`)).toBeUndefined();
});

test.each([
  ["tar", (bytes: Buffer) => bytes],
  ["tar.gz", gzipSync],
  ["tar.zst", zstdCompressSync],
] as const)("an OCI archive as %s is loaded", async (extension, compress) => {
  const { load, read, directory } = cache();
  const file = join(temporaryFolder(), `image.${extension}`);
  const layers = [await tarOf(hello)];
  writeFileSync(file, compress(await tarOfFiles(layoutFiles({ layers, name: "localhost:5000/a/candy:1" }))));
  await load(file);
  expect(read("localhost:5000/a/candy:1", "etc/greeting")).toBe("hello");
  expect(readdirSync(directory).filter((name) => name.includes("partial"))).toEqual([]);
});

test("a docker save and an OCI layout of the same image are one copy", async () => {
  const { load, directory, read } = cache();
  const image = { layers: [await tarOf(hello)], config, name: "candy:1" };
  await load(writeFiles(temporaryFolder(), layoutFiles(image)));
  const file = join(temporaryFolder(), "docker.tar");
  writeFileSync(file, await tarOfFiles(dockerFiles({ ...image, name: "candy:2" })));
  await load(file);
  expect(read("candy:2", "etc/greeting")).toBe("hello");
  expect(readdirSync(directory).filter((name) => name.startsWith("oci-"))).toHaveLength(1);
});

test("compressed layers lie over each other, and whiteouts remove what lower layers have", async () => {
  const { load, read, images, directory } = cache();
  const lower = await tarOf([
    ...hello,
    { name: "opt/a/old", content: "old" },
    { name: "usr/lib/x", content: "x" },
    { name: "lib", type: "symlink", linkname: "usr/lib" },
  ]);
  const upper = await tarOf([
    { name: "etc/.wh.greeting" },
    { name: "opt/a/new", content: "new" },
    { name: "opt/a/.wh..wh..opq" },
    { name: "lib/y", content: "y" },
    { name: "usr/lib/z", type: "link", linkname: "lib/y" },
  ]);
  const layers = [gzipSync(lower), zstdCompressSync(upper)];
  const files = layoutFiles({ layers, diffIds: [sha256(lower), sha256(upper)], name: "candy:1" });
  await load(writeFiles(temporaryFolder(), files));
  const root = join(directory, images.folderOf(images.find("candy:1")?.id ?? ""));
  expect(readdirSync(join(root, "etc"))).toEqual([]);
  expect(readdirSync(join(root, "opt/a"))).toEqual(["new"]);
  expect(read("candy:1", "usr/lib/y")).toBe("y");
  expect(statSync(join(root, "usr/lib/z")).ino).toBe(statSync(join(root, "usr/lib/y")).ino);
  expect(lstatSync(join(root, "lib")).isSymbolicLink()).toBe(true);
});

test("a name given with --name replaces that of the archive, and a later image takes a name over", async () => {
  const { load, read } = cache();
  await load(await layout([hello]), { name: "sweets:1" });
  await load(await layout([[{ name: "etc/greeting", content: "later" }]]), { name: "sweets:1" });
  expect(read("sweets:1", "etc/greeting")).toBe("later");
  await expect(load(await layout([hello], "v1"))).rejects.toThrow("it names no image; add --name IMAGE");
  await expect(load(await layout([hello], "Not:A:Name"))).rejects.toThrow('"Not:A:Name" is not the name of an image');
});

test.each([
  ["a path with ..", [{ name: "../outside", content: "x" }], 'entry "../outside" leaves the archive'],
  ["a hard link out of it", [{ name: "a", type: "link", linkname: "../../etc/passwd" }], "leaves the archive"],
  [
    "a hard link through a link out of it",
    [
      { name: "up", type: "symlink", linkname: "/etc" },
      { name: "a", type: "link", linkname: "up/passwd" },
    ],
    "expected a file that comes before it",
  ],
  ["a whiteout of a parent", [{ name: "etc/.wh..." }], "Cannot load"],
] as const)("%s is refused and leaves nothing", async (_, entries, message) => {
  const { load, directory, images } = cache();
  await expect(load(await layout([entries]))).rejects.toThrow(message);
  expect(images.list()).toEqual([]);
  expect(readdirSync(directory)).toEqual([]);
});

test("a file written through a link of the image stays inside of the image", async () => {
  const { load, directory, images } = cache();
  const outside = temporaryFolder();
  const entries: readonly FixtureEntry[] = [
    { name: "escape", type: "symlink", linkname: outside },
    { name: "escape/file", content: "x" },
    { name: "dots", type: "symlink", linkname: "../../../../../../tmp/process-node-dots" },
    { name: "dots/file", content: "x" },
  ];
  await load(await layout([entries]));
  const root = join(directory, images.folderOf(images.find("candy:1")?.id ?? ""));
  expect(readdirSync(outside)).toEqual([]);
  expect(existsSync("/tmp/process-node-dots")).toBe(false);
  expect(existsSync(join(root, outside, "file"))).toBe(true);
  expect(existsSync(join(root, "tmp/process-node-dots/file"))).toBe(true);
});

test("a damaged layer is refused, whether its file or its content is not what the image names", async () => {
  const { load, directory } = cache();
  const layer = await tarOf(hello);
  const files = layoutFiles({ layers: [layer], name: "candy:1" });
  const path = `blobs/${sha256(layer).replace(":", "/")}`;
  const other = await tarOf([...hello, { name: "more", content: "x" }]);
  await expect(load(writeFiles(temporaryFolder(), new Map([...files, [path, other]])))).rejects.toThrow(
    `layer is damaged: expected ${sha256(layer)}, got ${sha256(other)}`,
  );
  const wrong = layoutFiles({ layers: [layer], diffIds: [sha256("x")], name: "candy:1" });
  await expect(load(writeFiles(temporaryFolder(), wrong))).rejects.toThrow("content of layer is damaged");
  files.delete(path);
  await expect(load(writeFiles(temporaryFolder(), files))).rejects.toThrow("the archive is not complete");
  expect(readdirSync(directory)).toEqual([]);
});

test("limits on entries, bytes and documents are named", async () => {
  const { load, directory } = cache();
  const path = await layout([hello]);
  const limited = (limits: object) => load(path, { limits: { ...archiveLimits, ...limits } });
  await expect(limited({ entriesMax: 3 })).rejects.toThrow("expected at most 3 entries");
  await expect(limited({ bytesMax: 2_000 })).rejects.toThrow("expected at most 2000 bytes when unpacked");
  await expect(limited({ documentBytesMax: 10 })).rejects.toThrow('"index.json" has');
  await expect(limited({ layersMax: 0 })).rejects.toThrow("expected a list of at most 0 entries");
  expect(readdirSync(directory)).toEqual([]);
});

test("what is not an image for this machine is refused with what was expected", async () => {
  const { load } = cache();
  const file = join(temporaryFolder(), "image.tar");
  writeFileSync(file, "this is no tar file ".repeat(100));
  await expect(load(file)).rejects.toThrow(
    `Cannot load images from "${file}": expected a tar file, plain or compressed by gzip or zstd`,
  );
  await expect(load(temporaryFolder())).rejects.toThrow(
    "expected an OCI image layout (index.json) or a docker archive",
  );
  await expect(load("/no/such/file")).rejects.toThrow("no such file or folder");
  const other = layoutFiles({ layers: [await tarOf(hello)], architecture: "s390x", name: "candy:1" });
  await expect(load(writeFiles(temporaryFolder(), other))).rejects.toThrow("got linux/s390x");
});

test("a load that is stopped or killed half-way leaves no image, and the next one works", async () => {
  const { load, directory, images, read } = cache();
  const path = await layout([hello]);
  await expect(load(path, { signal: AbortSignal.abort(new Error("stopped by SIGINT")) })).rejects.toThrow(
    "stopped by SIGINT",
  );
  expect(readdirSync(directory)).toEqual([]);
  const id = (await load(path))[0]?.id ?? "";
  images.remove("candy:1");
  rmSync(join(directory, images.folderOf(id)), { recursive: true });
  writeFiles(join(directory, `${images.folderOf(id)}.partial`), new Map([["etc/greeting", Buffer.from("half")]]));
  expect(images.find("candy:1")).toBeUndefined();
  await load(path);
  expect(read("candy:1", "etc/greeting")).toBe("hello");
  expect(readdirSync(directory).filter((name) => name.includes("partial"))).toEqual([]);
});

test("an archive that GNU tar wrote, with long names, is loaded", async () => {
  const { load, read } = cache();
  const long = `${"long-name/".repeat(15)}file`;
  const folder = temporaryFolder();
  const root = writeFiles(join(folder, "root"), new Map([[long, Buffer.from("deep")]]));
  const tarred = spawnSync("tar", ["--format=gnu", "-cf", "-", "-C", root, "."]);
  const archive = join(folder, "docker.tar.gz");
  const files = writeFiles(join(folder, "files"), dockerFiles({ layers: [tarred.stdout], name: "candy:1" }));
  expect(spawnSync("tar", ["-czf", archive, "-C", files, "."]).status).toBe(0);
  await load(archive);
  expect(read("candy:1", long)).toBe("deep");
});

test("an image does not take the name of an operator of the release, unless it is asked to", async () => {
  const { load } = cache();
  const name = "example.com/own-operator:1";
  const path = await layout([hello], name);
  await expect(load(path, { ownNames: [name] })).rejects.toThrow(
    `nodes have an image "${name}" already (an operator of this release): load this one under another name`,
  );
  expect(await load(path, { ownNames: [name], replacesCatalogue: true })).toMatchObject([{ name }]);
});
