/**
 * Images whose archives lead to a folder of this test, outside of everything that an image or its pods may
 * reach, or ask for more than a machine has.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { environment } from "../operator-project.ts";
import {
  folder,
  hardLink,
  linkChain,
  paxRecords,
  type RawEntry,
  symlink,
  tarOf,
  writeArchive,
} from "./hostile-archive.ts";

const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), "setpoint-hostile-"));
const canary = join(directory, "canary");
const cache = join(directory, "cache");
const images = join(cache, "setpoint", "images");
const archive = join(directory, "archive.tar.gz");
const name = "registry.example.com/evil:1";

afterAll(() => rmSync(directory, { recursive: true, force: true }));

beforeEach(() => {
  for (const each of [canary, images]) rmSync(each, { recursive: true, force: true });
  mkdirSync(join(canary, "kept"), { recursive: true });
  writeFileSync(join(canary, "kept/secret"), "canary", { mode: 0o600 });
});

afterEach(() => {
  expect([readdirSync(canary), readdirSync(join(canary, "kept"))]).toEqual([["kept"], ["secret"]]);
  expect(readFileSync(join(canary, "kept/secret"), "utf8")).toBe("canary");
  expect(statSync(join(canary, "kept/secret"))).toMatchObject({ mode: 0o100600, nlink: 1, uid: process.getuid?.() });
  rmSync(canary, { recursive: true });
});

interface Loading {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly text: string }>;
}

function startLoad(...args: readonly string[]): Loading {
  const child = spawn(process.execPath, ["--conditions=@setpoint/source", bin, "image", "load", archive, ...args], {
    cwd: directory,
    env: environment({ XDG_CACHE_HOME: cache }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<{ code: number | null; text: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, text })),
  );
  return { child, ended };
}

/** Everything that a load has left in the cache. */
function left(): readonly string[] {
  return existsSync(images) ? readdirSync(images) : [];
}

async function expectRefused(message: string | RegExp): Promise<void> {
  const { code, text } = await startLoad().ended;
  expect(text).toMatch(message);
  expect(code).toBe(1);
  expect(left()).toEqual([]);
}

const chain = linkChain(41, canary);

test.for<readonly [string, readonly RawEntry[]]>([
  ["writes a setuid file", [{ name: "l0/planted", content: "#!/bin/sh", mode: 0o4755 }]],
  ["deletes a folder", [{ name: "l0/.wh.kept" }]],
  ["empties a folder", [{ name: "l0/.wh..wh..opq" }]],
  ["takes a file over by a hard link", [{ ...hardLink("mine", "l0/kept/secret"), mode: 0o777, uid: 1000 }]],
  ["opens a folder to all", [folder("l0/kept", 0o777)]],
  ["plants a link", [symlink("l0/planted", "/")]],
])("an archive that %s of the host at the end of 41 links is refused", async ([, entries]) => {
  for (const layers of [[tarOf([...chain, ...entries])], [tarOf(chain), tarOf(entries)]]) {
    writeArchive(archive, { name, layers });
    await expectRefused(
      /image "registry.example.com\/evil:1": entry "\S+": path "\S+" has more than 40 links \(ELOOP\)/,
    );
  }
});

test("an archive that leads out itself, before any image is found in it, is refused", async () => {
  writeFileSync(archive, tarOf([...chain, { name: "l0/planted", content: "x" }]));
  await expectRefused("ELOOP");
});

test("thousands of folders inside each other are refused at once", async () => {
  const entries = Array.from({ length: 2_000 }, (_, i) => folder("d/".repeat(i + 1)));
  writeArchive(archive, { name, layers: [tarOf(entries)] });
  const startMs = performance.now();
  await expectRefused("has more than 256 folders inside each other");
  expect(performance.now() - startMs).toBeLessThan(30_000);
});

test("a small archive that unpacks to very much is refused before it fills the disk", async () => {
  const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const start = gzipSync(tarOf([{ name: "zeros", declaredSize: 4 * 1024 ** 3 }]).subarray(0, 512));
  writeArchive(archive, { name, layers: [Buffer.concat([start, ...Array.from({ length: 8 }, () => zeros)])] });
  await expectRefused(/\d+ bytes unpack to \d+: expected at most 500 bytes for each/);
});

test("headers that go before entries do not keep a load busy", async () => {
  const records = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key-${i}`, ""]));
  const global = Array.from({ length: 24 }, (): RawEntry => ({
    name: "g",
    flag: "g",
    pax: {},
    content: paxRecords(records),
  }));
  writeArchive(archive, { name, layers: [tarOf([...global, { name: "a" }])] });
  await expectRefused(/expected at most \d+ bytes of headers for 0 entries/);
  writeArchive(archive, { name, layers: [tarOf([{ name: "a", pax: records }])] });
  await expectRefused('entry "a" has 100000 records: expected at most 256');
});

test.for(["SIGINT", "SIGTERM"] as const)(
  "a load that gets %s ends, frees its lock and leaves nothing",
  async (signal) => {
    const entries = Array.from({ length: 60_000 }, (_, i) => ({ name: `files/${i % 100}/${i}`, content: "x" }));
    writeArchive(archive, { name, layers: [tarOf(entries)] });
    const { child, ended } = startLoad();
    const isUnpacking = (): boolean => left().some((each) => each.startsWith("oci-"));
    for (let i = 0; i < 600 && !isUnpacking() && child.exitCode === null; i++) await delay(100);
    child.kill(signal);
    const startMs = performance.now();
    const { code, text } = await ended;
    expect(text).toContain(`stopped by ${signal}`);
    expect(code).toBe(1);
    expect(performance.now() - startMs).toBeLessThan(30_000);
    expect(left()).toEqual([]);
    writeArchive(archive, { name, layers: [tarOf([{ name: "a", content: "x" }])] });
    expect(await startLoad().ended).toMatchObject({ code: 0 });
    rmSync(images, { recursive: true });
  },
);

test("an image does not take a name of the catalogue, unless it is asked to", async () => {
  const known = "quay.io/coreos/etcd:v3.5.16";
  writeArchive(archive, { name: known, layers: [tarOf([{ name: "a", content: "x" }])] });
  await expectRefused(`nodes have an image "${known}" already`);
  expect(await startLoad("--replace-catalogue").ended).toMatchObject({ code: 0 });
});
