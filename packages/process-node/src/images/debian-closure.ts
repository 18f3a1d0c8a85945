/** Makes the root file system of a Debian closure with mmdebstrap; nothing is kept when a step fails. */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { nodeError } from "../errors.ts";
import { missingPackages, missingSentence } from "../host/host-tools.ts";
import { OpenFolder } from "../host/open-folder.ts";
import type { DebianClosure, ImageSource } from "./image.ts";
import { makeFolderInRoot, openInRoot, placeInRoot } from "./root-path.ts";

/** The tail of mmdebstrap's output that is kept to explain a failure. */
const outputBytesMax = 16_384;
/** The longest changelogs of Debian have a few megabytes. */
const changelogBytesMax = 64 * 1024 * 1024;

const mountPoints = [
  "proc",
  "sys",
  "dev",
  "run",
  "tmp",
  "etc",
  "var/lib",
  "var/cache",
  "var/log",
  "var/tmp",
  "root",
  "home",
  "mnt",
  "opt",
  "srv",
];
/**
 * What each Debian system has, and a script of a package makes, which does not run here: programs ask for the
 * name of their user.
 */
const accounts: Readonly<Record<string, string>> = {
  "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
  "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
};
const mergedFolders = ["bin", "sbin", "lib", "lib64"];

/** What gives an ordinary user the ids that mmdebstrap unpacks packages with. */
const rangeAdvice =
  "type as root: apt-get install --yes uidmap && usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER";

/** Unpacks the packages into `directory`, which must not exist yet. */
export async function extractClosure(closure: DebianClosure, directory: string, mirror: string): Promise<void> {
  if (process.getuid?.() === 0) await fetchClosure(closure, directory, mirror);
  else await extractAsUser(closure, directory, mirror);
  completeRoot(directory);
}

/**
 * An ordinary user's mmdebstrap leaves a folder of another user, of its range in /etc/subuid; an archive it
 * leaves to its user.
 */
async function extractAsUser(closure: DebianClosure, directory: string, mirror: string): Promise<void> {
  const archive = `${directory}.tar`;
  try {
    await fetchClosure(closure, archive, mirror);
    mkdirSync(directory, { recursive: true });
    const flags = ["--extract", "--no-same-owner", "--exclude=./dev", "--file", archive, "--directory", directory];
    const { code, output } = await runTool("tar", flags);
    if (code !== 0) throw explain(closure, mirror, output, "tar");
  } finally {
    rmSync(archive, { force: true });
  }
}

async function fetchClosure(closure: DebianClosure, target: string, mirror: string): Promise<void> {
  const include = `--include=${closure.packages.join(",")}`;
  const { code, output } = await runTool("mmdebstrap", ["--variant=extract", include, closure.suite, target, mirror]);
  if (code !== 0) throw explain(closure, mirror, output, "mmdebstrap");
}

/**
 * `extract` leaves neither the mount points nor the links of a merged /usr, without which programs do not
 * start, nor any account. What is there stays.
 */
export function completeRoot(directory: string): void {
  for (const folder of mountPoints) makeFolderInRoot(directory, folder)[Symbol.dispose]();
  for (const [path, content] of Object.entries(accounts)) {
    placeInRoot(directory, path, (folder, name) => {
      if (folder.stat(name) === undefined) writeFileSync(folder.entry(name), content, { mode: 0o644 });
    });
  }
  using root = OpenFolder.at(directory);
  using usr = root.folder("usr");
  for (const folder of mergedFolders) {
    if (usr?.stat(folder) === undefined || root.stat(folder) !== undefined) continue;
    symlinkSync(`usr/${folder}`, root.entry(folder));
  }
}

/** What is there stays. */
export function addLinks(directory: string, links: Readonly<Record<string, string>>): void {
  for (const [path, target] of Object.entries(links)) {
    placeInRoot(directory, path, (folder, name) => {
      if (folder.stat(name) === undefined) symlinkSync(target, folder.entry(name));
    });
  }
}

/** Refuses a root whose program is not of the pinned version: a mirror may have moved on. */
export function checkVersion(directory: string, source: ImageSource): void {
  if (source.version === undefined) return;
  const { package: name, upstream } = source.version;
  const found = upstreamVersion(directory, name);
  if (found === upstream) return;
  const suite = source.closure?.suite ?? "no suite";
  const message = `Cannot use package "${name}" of ${suite}: its version is ${found ?? "unknown"}, the catalogue pins ${upstream}`;
  throw nodeError("ERR_IMAGE_VERSION", message);
}

/** From the package's changelog, because an extracted closure has no package database. */
export function upstreamVersion(directory: string, packageName: string): string | undefined {
  const file = openInRoot(directory, `/usr/share/doc/${packageName}/changelog.Debian.gz`);
  if (file === undefined) return undefined;
  const [firstLine = ""] = textOf(file).split("\n", 1);
  const version = /\(([^)]+)\)/.exec(firstLine)?.[1];
  // [epoch:]upstream[+repack][-revision]
  return version
    ?.replace(/^\d+:/, "")
    .replace(/-[^-]*$/, "")
    .replace(/[+~].*$/, "");
}

function textOf(file: number): string {
  try {
    return gunzipSync(readFileSync(file), { maxOutputLength: changelogBytesMax }).toString("utf8");
  } finally {
    closeSync(file);
  }
}

function explain(closure: DebianClosure, mirror: string, output: string, tool: string): Error {
  const what = `Cannot fetch packages ${closure.packages.join(", ")} of Debian ${closure.suite}`;
  if (/No space left on device/i.test(output)) return nodeError("ERR_NO_DISK_SPACE", `${what}: the disk is full`);
  if (
    /Could not (resolve|connect)|Temporary failure resolving|Network is unreachable|Connection (failed|refused|timed out)|Unable to connect/i.test(
      output,
    )
  ) {
    return nodeError(
      "ERR_NO_NETWORK",
      `${what}: the mirror ${mirror} cannot be reached; connect this machine to the network once`,
    );
  }
  if (/newuidmap|newgidmap|subuid|subgid|pick chroot mode/.test(output)) {
    const message = `${what}: an ordinary user needs a range of ids in /etc/subuid and /etc/subgid for it; ${rangeAdvice}`;
    return nodeError("ERR_TOOL_MISSING", message);
  }
  // The first error is the cause; those after it say that there was one.
  const lines = output.trim().split("\n");
  const line = lines.find((text) => text.startsWith("E: ")) ?? lines.at(-1) ?? "";
  return nodeError("ERR_IMAGE_BUILD", `${what}: ${tool} reports "${line.trim()}"`);
}

/** The command also installs whatever else is missing. */
function namedWith(tool: string): readonly { readonly name: string }[] {
  const missing = missingPackages();
  return missing.some(({ name }) => name === tool) ? missing : [{ name: tool }, ...missing];
}

function runTool(tool: string, args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(tool, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, LC_ALL: "C" } });
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-outputBytesMax)));
    child.once("error", (error) => {
      reject(nodeError("ERR_TOOL_MISSING", `Cannot make images: ${missingSentence(namedWith(tool))}`, error));
    });
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
