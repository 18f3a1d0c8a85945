import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findProgram, resolveInRoot } from "./root-path.ts";

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
