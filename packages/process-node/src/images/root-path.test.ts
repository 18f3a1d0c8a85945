import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findProgram, openInRoot, resolveInRoot } from "./root-path.ts";

test("links inside an image are followed inside the image", () => {
  const root = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  mkdirSync(join(root, "var"));
  symlinkSync("usr/bin", join(root, "bin"));
  symlinkSync("/run", join(root, "var/run"));
  writeFileSync(join(root, "usr/bin/etcd"), "", { mode: 0o755 });
  expect(resolveInRoot(root, "/var/run/secrets/token")).toBe("/run/secrets/token");
  expect(resolveInRoot(root, "/../../etc")).toBe("/etc");
  expect(findProgram(root, "etcd", "/sbin:/bin")).toBe("/bin/etcd");
  expect(findProgram(root, "sh", "/sbin:/bin")).toBeUndefined();
});

test("a path with more than 40 links is refused, and so are loops, NUL bytes and endless detours", () => {
  const root = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/passwd"), "x");
  for (let i = 0; i < 41; i++) symlinkSync(i === 40 ? "/etc" : `l${i + 1}`, join(root, `l${i}`));
  symlinkSync("loop", join(root, "loop"));
  symlinkSync("etc/../".repeat(500), join(root, "detour"));
  expect(resolveInRoot(root, "/l1/hosts")).toBe("/etc/hosts");
  for (const path of ["/l0/hosts", "/l0", "/loop"])
    expect(() => resolveInRoot(root, path)).toThrow(`path "${path}" has more than 40 links (ELOOP)`);
  expect(() => openInRoot(root, "/l0/passwd")).toThrow("ELOOP");
  expect(() => findProgram(root, "passwd", "/bin:/l0")).toThrow("ELOOP");
  expect(() => resolveInRoot(root, "/etc/\0")).toThrow("contains a NUL byte");
  expect(() => resolveInRoot(root, "/detour".repeat(40))).toThrow("leads through more than 1024 names");
  expect(() => resolveInRoot(root, "/x".repeat(257))).toThrow("has more than 256 folders inside each other");
  expect(() => resolveInRoot(root, `/${"x".repeat(250)}`.repeat(13))).toThrow("is longer than 3072 bytes");
});

test("only a regular file is opened, also when a folder of the way is a file", () => {
  const root = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, "file"), "text");
  symlinkSync("/etc/passwd", join(root, "host"));
  execFileSync("/usr/bin/mkfifo", [join(root, "pipe")]);
  for (const path of ["/", "/host", "/pipe", "/file/below", "/missing/file"])
    expect(openInRoot(root, path), path).toBeUndefined();
  const file = openInRoot(root, "/missing/../file") ?? -1;
  expect(readFileSync(file, "utf8")).toBe("text");
  closeSync(file);
});
