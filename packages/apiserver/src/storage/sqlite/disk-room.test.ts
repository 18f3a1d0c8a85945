import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diskRoom, fullDiskText, isDiskFull } from "./disk-room.ts";

test("the room of a folder is that of its file system, which has a name", () => {
  const folder = mkdtempSync(join(tmpdir(), "room-"));
  try {
    const { freeBytes, freeFiles, mountPoint } = diskRoom(folder);
    expect(freeBytes).toBeGreaterThan(0);
    expect(freeFiles).toBeGreaterThan(0);
    expect(folder.startsWith(mountPoint)).toBe(true);
    expect(fullDiskText(folder)).toMatch(`the file system at "${mountPoint}" has `);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a full disk is recognized by the codes of the system and of SQLite, also as a cause", () => {
  const full = (properties: object): Error => Object.assign(new Error("x"), properties);
  expect(isDiskFull(full({ code: "ENOSPC" }))).toBe(true);
  expect(isDiskFull(full({ code: "EDQUOT" }))).toBe(true);
  expect(isDiskFull(full({ code: "ERR_SQLITE_ERROR", errcode: 13 }))).toBe(true);
  expect(isDiskFull(new Error("y", { cause: full({ code: "ENOSPC" }) }))).toBe(true);
  expect(isDiskFull(full({ code: "EACCES" }))).toBe(false);
  expect(isDiskFull("ENOSPC")).toBe(false);
});
