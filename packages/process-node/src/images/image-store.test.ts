import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { debianCatalogue } from "./debian-catalogue.ts";
import { createImageCatalog } from "./image-catalog.ts";
import type { ImageSource } from "./image.ts";
import { LoadedImages } from "./oci/loaded-images.ts";
import { ImageStore, type ImageStoreOptions } from "./image-store.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const plain = { closure: { suite: "bookworm", packages: ["hello"] } };
const catalog = createImageCatalog(debianCatalogue, { "hello:1": plain });

function store(directory: string, options: Partial<ImageStoreOptions> = {}): ImageStore {
  const extract: ImageStoreOptions["extract"] = async (_, root) => {
    mkdirSync(root);
    writeFileSync(join(root, "made"), String(process.pid));
  };
  return new ImageStore({ clock: systemClock, log: silentLogger, directory, catalog, extract, ...options });
}

test("an image is built once, and found by every process that shares the cache", async () => {
  const directory = folder();
  let builds = 0;
  const extract: ImageStoreOptions["extract"] = async (_, root) => {
    builds++;
    await new Promise((resolve) => setTimeout(resolve, 50));
    mkdirSync(root);
  };
  const first = store(directory, { extract });
  const second = store(directory, { extract });
  expect(first.has("hello:1")).toBe(false);
  const images = await Promise.all([first.ensure("hello:1"), first.ensure("hello:1"), second.ensure("hello:1")]);
  expect(builds).toBe(1);
  expect(new Set(images.map(({ rootDirectory }) => rootDirectory)).size).toBe(1);
  expect(second.has("hello:1")).toBe(true);
});

test("the cache is closed to other users of the host, and its images are open to each user of a pod", async () => {
  const directory = folder();
  const { rootDirectory } = await store(directory).ensure("hello:1");
  expect([directory, rootDirectory].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o755]);
});

test("an image with files of its own is laid over a closure that has devices and pipes", async () => {
  const directory = folder();
  const own = join(folder(), "own.txt");
  writeFileSync(own, "own");
  const source: ImageSource = { ...plain, files: [{ from: own, to: "/own.txt" }] };
  const extract: ImageStoreOptions["extract"] = async (_, root) => {
    mkdirSync(join(root, "dev"), { recursive: true });
    writeFileSync(join(root, "made"), "");
    execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", join(root, "dev", "pipe")]);
  };
  const { rootDirectory } = await store(directory, {
    extract,
    catalog: createImageCatalog(debianCatalogue, { "hello:2": source }),
  }).ensure("hello:2");
  expect(readdirSync(rootDirectory).toSorted()).toEqual(expect.arrayContaining(["dev", "made", "own.txt"]));
  expect(readdirSync(join(rootDirectory, "dev"))).toEqual([]);
});

/** Another process that makes the same image, slowly, and tells when it has begun. */
function otherBuilder(directory: string): ChildProcess {
  const module = JSON.stringify(new URL("./image-store.ts", import.meta.url).href);
  const script = `
    const { ImageStore } = await import(${module});
    const { systemClock } = await import("@setpoint/host/system");
    const { silentLogger } = await import("@setpoint/host");
    const { mkdirSync, writeFileSync } = await import("node:fs");
    const extract = async (_, root) => {
      mkdirSync(root);
      process.stdout.write("begun");
      await new Promise((resolve) => setTimeout(resolve, 700));
      writeFileSync(root + "/made", String(process.pid));
    };
    const catalog = { find: () => (${JSON.stringify(plain)}), findLocal: () => undefined };
    const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: ${JSON.stringify(directory)}, catalog, extract });
    await store.ensure("hello:1");`;
  const args = ["--conditions=@setpoint/source", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const begun = (child: ChildProcess) => new Promise((resolve) => child.stdout?.once("data", resolve));

test("two processes that want the same image make it once", async () => {
  const directory = folder();
  const child = otherBuilder(directory);
  await begun(child);
  const { rootDirectory } = await store(directory).ensure("hello:1");
  expect(readFileSync(join(rootDirectory, "made"), "utf8")).toBe(String(child.pid));
});

test("a builder that was killed leaves nothing that counts, and the next one takes over", async () => {
  const directory = folder();
  const child = otherBuilder(directory);
  await begun(child);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  expect(store(directory).has("hello:1")).toBe(false);
  const { rootDirectory } = await store(directory).ensure("hello:1");
  expect(readFileSync(join(rootDirectory, "made"), "utf8")).toBe(String(process.pid));
  expect(readdirSync(directory).filter((name) => /lock|partial/.test(name))).toEqual([]);
});

test("a build that fails leaves nothing and is tried again", async () => {
  const directory = folder();
  let isBroken = true;
  const extract: ImageStoreOptions["extract"] = async (_, root) => {
    mkdirSync(root);
    if (isBroken) throw new Error("cable cut");
  };
  const images = store(directory, { extract });
  await expect(images.ensure("hello:1")).rejects.toThrow("cable cut");
  expect(readdirSync(directory)).toEqual([]);
  isBroken = false;
  await images.ensure("hello:1");
});

test("files laid over a closure make an image of their own, and a changed file another one", async () => {
  const directory = folder();
  const file = join(folder(), "app.js");
  writeFileSync(file, "one");
  const local = { "app:1": { ...plain, files: [{ from: file, to: "/app/main.js" }] } };
  const images = store(directory, { catalog: createImageCatalog([], local) });
  const one = await images.ensure("app:1");
  expect(readFileSync(join(one.rootDirectory, "app/main.js"), "utf8")).toBe("one");
  writeFileSync(file, "other");
  const two = await images.ensure("app:1");
  expect(readFileSync(join(two.rootDirectory, "app/main.js"), "utf8")).toBe("other");
  expect(existsSync(join(one.rootDirectory, "app/main.js"))).toBe(true);
});

test("an image of local files that nobody used for days is removed, unless it is in use; closures stay", async () => {
  const directory = folder();
  const file = join(folder(), "app.js");
  writeFileSync(file, "old");
  const local = createImageCatalog([], { "app:1": { ...plain, files: [{ from: file, to: "/app.js" }] } });
  const old = await store(directory, { catalog: local }).ensure("app:1");
  const closure = await store(directory).ensure("hello:1");
  writeFileSync(file, "newer");
  const images = store(directory, { catalog: local });
  const used = await images.ensure("app:1");
  const longAgo = systemClock.now() / 1_000 - 3 * 24 * 3_600;
  for (const { rootDirectory } of [old, closure, used]) utimesSync(rootDirectory, longAgo, longAgo);
  await images.keepHouse();
  expect([old, closure, used].map(({ rootDirectory }) => existsSync(rootDirectory))).toEqual([false, true, true]);
});

test("a full disk is reported before anything is fetched", async () => {
  const images = store(folder(), { freeBytes: () => 100 * 1024 * 1024 });
  await expect(images.ensure("hello:1")).rejects.toMatchObject({
    code: "ERR_NO_DISK_SPACE",
    message: expect.stringMatching(/^Cannot fetch packages hello: 100 MB are free in .*, 700 MB are needed$/),
  });
});

test("an image that this node does not have names the commands that load and list images, and a tag that it has", async () => {
  const images = store(folder());
  await expect(images.ensure("quay.io/coreos/etcd:v9")).rejects.toThrow(
    "no image of that name, but tags v3.4.23, v3.5.16; load it",
  );
  await expect(images.ensure("candy")).rejects.toThrow(
    'Cannot pull image "candy": this node has no image of that name; load it with "setpoint image load FILE"; "setpoint image list" shows what this node can run',
  );
});

test("a digest names content, which no package has", async () => {
  const name = `nginx@sha256:${"0".repeat(64)}`;
  await expect(store(folder()).ensure(name)).rejects.toThrow("no image of that name");
  expect(store(folder()).has("docker.io/library/nginx:1.27")).toBe(false);
});

test("a loaded image is found without a pull, before the catalogue, and after what a program named", async () => {
  const directory = folder();
  const images = store(directory);
  const id = `sha256:${"a".repeat(64)}`;
  const loaded = new LoadedImages(directory);
  mkdirSync(join(directory, loaded.folderOf(id)));
  for (const name of ["quay.io/coreos/etcd:v3.5.16", "docker.io/library/hello:1"])
    loaded.save({ name, id, bytes: 1, config: { command: ["loaded"] } });
  expect(images.has("quay.io/coreos/etcd:v3.5.16")).toBe(true);
  const image = await images.ensure("quay.io/coreos/etcd:v3.5.16");
  expect(image).toMatchObject({ id: `process://${id}`, config: { command: ["loaded"] } });
  expect((await images.ensure("hello:1")).id).not.toBe(`process://${id}`);
});

test("a loaded image that lost its name is removed when nobody used it for days; one with a name stays", async () => {
  const directory = folder();
  const loaded = new LoadedImages(directory);
  const ids = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`);
  for (const id of ids) {
    mkdirSync(join(directory, loaded.folderOf(id)));
    utimesSync(join(directory, loaded.folderOf(id)), 1, 1);
    loaded.save({ name: `docker.io/library/${id.at(-1)}:1`, id, bytes: 1, config: {} });
  }
  expect(loaded.remove("a:1")).toBe(true);
  expect(loaded.remove("a:1")).toBe(false);
  await store(directory).keepHouse();
  expect(readdirSync(directory).sort()).toEqual(["loaded", loaded.folderOf(ids[1] ?? "")]);
});

test("an image of files alone needs no Debian package", async () => {
  const directory = folder();
  const program = join(folder(), "program");
  writeFileSync(program, "hello", { mode: 0o755 });
  const source = { files: [{ from: program, to: "/usr/bin/program" }] };
  const images = store(directory, {
    catalog: createImageCatalog([], { "own:1": source }),
    extract: () => Promise.reject(new Error("no Debian mirror")),
  });
  const { rootDirectory } = await images.ensure("own:1");
  expect(readFileSync(join(rootDirectory, "usr/bin/program"), "utf8")).toBe("hello");
  expect(existsSync(join(rootDirectory, "proc"))).toBe(true);
  expect(images.has("own:1")).toBe(true);
});

test("an image of the release is described when a pod first needs it, and once", async () => {
  const program = join(folder(), "program");
  writeFileSync(program, "hello");
  let described = 0;
  const describe = (): Promise<ImageSource> => {
    described++;
    return Promise.resolve({ files: [{ from: program, to: "/program" }] });
  };
  const images = store(folder(), { catalog: createImageCatalog([], {}, { "example.com/own:1": { describe } }) });
  expect(images.has("example.com/own:1")).toBe(false);
  expect(described).toBe(0);
  await Promise.all([images.ensure("example.com/own:1"), images.ensure("example.com/own:1")]);
  await images.ensure("example.com/own:1");
  expect(images.has("example.com/own:1")).toBe(true);
  expect(described).toBe(1);
});
