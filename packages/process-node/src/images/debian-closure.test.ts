import { messageOf } from "@setpoint/apimachinery";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { checkVersion, completeRoot, extractClosure, upstreamVersion } from "./debian-closure.ts";
import { configuredUser, imageUser } from "./image-users.ts";

const closure = { suite: "bookworm", packages: ["hello"] };
const mirror = "http://mirror.example/debian";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The message when mmdebstrap says this and fails; undefined: it is not installed. */
async function messageFor(output: string | undefined): Promise<string> {
  const bin = folder();
  if (output !== undefined) {
    const script = `#!/bin/sh\n/bin/cat >&2 <<'END'\n${output}\nEND\nexit 1\n`;
    writeFileSync(join(bin, "mmdebstrap"), script, { mode: 0o755 });
  }
  const before = process.env["PATH"];
  process.env["PATH"] = bin;
  try {
    await extractClosure(closure, join(bin, "root"), mirror);
    return "no error";
  } catch (error) {
    return messageOf(error);
  } finally {
    process.env["PATH"] = before;
  }
}

/** What mmdebstrap and apt of bookworm were seen to say. */
const aftermath = `E: Some index files failed to download. They have been ignored, or old ones used instead.
E: apt-get update --error-on=any -oAPT::Status-Fd=<$fd> -oDpkg::Use-Pty=false failed
I: main() received signal PIPE: waiting for setup...
E: mmdebstrap failed to run`;
const unreachable = `Cannot fetch packages hello of Debian bookworm: the mirror ${mirror} cannot be reached; connect this machine to the network once`;

test.each([
  [
    `E: Failed to fetch ${mirror}/InRelease  Could not connect to mirror.example:80. - connect (111: Connection refused)\n${aftermath}`,
    unreachable,
  ],
  [`E: Failed to fetch ${mirror}/InRelease  Could not resolve 'mirror.example'\n${aftermath}`, unreachable],
  [
    "E: Write error - write (28: No space left on device)",
    "Cannot fetch packages hello of Debian bookworm: the disk is full",
  ],
  [
    `Building dependency tree...\nE: Unable to locate package hello\n${aftermath}`,
    'Cannot fetch packages hello of Debian bookworm: mmdebstrap reports "E: Unable to locate package hello"',
  ],
  [undefined, "Cannot make images: mmdebstrap is not installed; type as root: apt-get install --yes mmdebstrap"],
])("a closure that cannot be fetched is one sentence (%#)", async (output, expected) => {
  expect(await messageFor(output)).toBe(expected);
});

test("a package of another version than the pinned one is refused", () => {
  const root = folder();
  mkdirSync(join(root, "usr/share/doc/etcd-server"), { recursive: true });
  const changelog = gzipSync("etcd (1:3.5.16+dfsg-4) unstable; urgency=medium\n");
  writeFileSync(join(root, "usr/share/doc/etcd-server/changelog.Debian.gz"), changelog);
  expect(upstreamVersion(root, "etcd-server")).toBe("3.5.16");
  const source = { closure, version: { package: "etcd-server", upstream: "3.5.17" } };
  expect(() => checkVersion(root, source)).toThrow("its version is 3.5.16, the catalogue pins 3.5.17");
});

test("an extracted root gets its mount points and the links of a merged /usr", () => {
  const root = folder();
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  writeFileSync(join(root, "usr/bin/hello"), "");
  completeRoot(root);
  completeRoot(root);
  for (const path of ["bin/hello", "proc", "tmp", "var/lib"])
    expect(() => rmSync(join(root, path), { recursive: true })).not.toThrow();
});

test("an extracted root names its users, so that programs find the name of their own", () => {
  const root = folder();
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/group"), "own:x:7:\n");
  completeRoot(root);
  expect(imageUser(root, 0)).toEqual({ name: "root", group: 0 });
  expect(configuredUser(root, "nobody")).toEqual({ user: 65_534 });
  expect(configuredUser(root, "0:own")).toEqual({ user: 0, group: 7 });
});
