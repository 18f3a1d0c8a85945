import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hostPath } from "./host-path.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "host-path-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("hostPath() makes what its type asks to make, and nothing else", () => {
  const at = folder();
  expect(hostPath({ path: join(at, "a/b"), type: "DirectoryOrCreate" })).toBe(join(at, "a/b"));
  expect(statSync(hostPath({ path: join(at, "file"), type: "FileOrCreate" })).isFile()).toBe(true);
  expect(statSync(hostPath({ path: join(at, "untyped") })).isDirectory()).toBe(true);
  expect(() => hostPath({ path: join(at, "none"), type: "Directory" })).toThrow(
    /check failed: .*none is not a directory$/,
  );
  expect(existsSync(join(at, "none"))).toBe(false);
});

test.for([
  ["File", "is not a file"],
  ["Socket", "is not a socket file"],
  ["CharDevice", "is not a character device"],
  ["BlockDevice", "is not a block device"],
] as const)("hostPath() refuses a folder as %s", ([type, problem]) => {
  expect(() => hostPath({ path: folder(), type })).toThrow(problem);
});

test("hostPath() takes what is of its type", () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  expect(hostPath({ path: file, type: "File" })).toBe(file);
  expect(hostPath({ path: "/dev/null", type: "CharDevice" })).toBe("/dev/null");
});
