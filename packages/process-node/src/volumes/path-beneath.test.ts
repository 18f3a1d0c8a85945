import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pathBeneath } from "./path-beneath.ts";

function volume(): string {
  const directory = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "..2026/deep"), { recursive: true });
  symlinkSync("..2026", join(directory, "..data"));
  symlinkSync("..data/key", join(directory, "key"));
  symlinkSync("/etc", join(directory, "absolute"));
  symlinkSync("../../..", join(directory, "..2026/deep/up"));
  symlinkSync("..2026/deep/..", join(directory, "within"));
  symlinkSync("loop", join(directory, "loop"));
  return directory;
}

test.for([
  ["plain/path", "plain/path"],
  ["./a//b/.", "a/b"],
  ["key", "..2026/key"],
  ["within/x", "..2026/x"],
  [".", ""],
])("%s is %s beneath the volume", ([path = "", expected]) => {
  expect(pathBeneath(volume(), path)).toBe(expected);
});

test.for(["..", "a/../../b", "/etc", "absolute", "absolute/passwd", "..2026/deep/up/etc", "loop"])(
  "%s leads out of the volume",
  (path) => {
    expect(() => pathBeneath(volume(), path)).toThrow(`failed to prepare subPath "${path}"`);
  },
);
