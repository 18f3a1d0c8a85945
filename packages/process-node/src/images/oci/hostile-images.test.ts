/** Archives whose entries lead to a folder of this test, outside of everything that an image may reach. */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { systemClock } from "@setpoint/host/system";
import { type FixtureEntry, layoutFiles, linkChain, tarOf, writeFiles } from "./archive.fixture.ts";
import { loadImages } from "./load-images.ts";

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

/** Loads an image of these layers into a cache of its own; answers the cache. */
async function load(...layers: readonly (readonly FixtureEntry[])[]): Promise<string> {
  const directory = temporaryFolder();
  const tars = await Promise.all(layers.map(tarOf));
  const path = writeFiles(temporaryFolder(), layoutFiles({ layers: tars, name: "evil:1" }));
  onTestFinished(() => expect(readdirSync(directory).filter((name) => name.includes("partial"))).toEqual([]));
  await loadImages({ clock: systemClock, directory, path });
  return directory;
}

const setuid: FixtureEntry = { name: "l0/planted", content: "#!/bin/sh", mode: 0o4755 };

test("a file at the end of 41 links is refused, with the image and the path", async () => {
  await expect(load([...linkChain(41, canary), setuid])).rejects.toThrow(
    /image "docker.io\/library\/evil:1": entry "l0\/planted": path "\/l0" has more than 40 links \(ELOOP\)/,
  );
});

test("a file at the end of 40 links lands inside of the image", async () => {
  const directory = await load([...linkChain(40, canary), setuid]);
  const [root = ""] = readdirSync(directory).filter((name) => name.startsWith("oci-"));
  expect(lstatSync(join(directory, root, canary, "planted")).mode & 0o7777).toBe(0o4755);
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
