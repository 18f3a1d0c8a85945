import { mkdirSync, mkdtempSync, readFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyAside, reservedBytes, runCopyAside, runRemoveCopies } from "./survivor-copy.ts";

let volume: string;
beforeEach(() => {
  volume = mkdtempSync(join(tmpdir(), "survivor-copy-"));
  mkdirSync(join(volume, "member-data/member/snap"), { recursive: true });
  writeFileSync(join(volume, "member-data/member/snap/db"), "before");
});
afterEach(() => rmSync(volume, { recursive: true }));

const place = (): { readonly source: string; readonly target: string } => ({
  source: join(volume, "member-data"),
  target: join(volume, "before-recovery/t"),
});
const copied = (): string => readFileSync(join(volume, "before-recovery/t/member/snap/db"), "utf8");

test("copyAside() copies the whole folder and returns its size", async () => {
  expect(await copyAside(place())).toBe(6);
  expect(copied()).toBe("before");
});

test("copyAside() never replaces a copy: the data may have changed since", async () => {
  await copyAside(place());
  writeFileSync(join(volume, "member-data/member/snap/db"), "after a forced start");
  expect(await copyAside(place())).toBe(6);
  expect(copied()).toBe("before");
});

test("copyAside() starts an interrupted copy over", async () => {
  mkdirSync(join(volume, "before-recovery/t.partial/member/snap"), { recursive: true });
  writeFileSync(join(volume, "before-recovery/t.partial/member/snap/db"), "be");
  writeFileSync(join(volume, "before-recovery/t.partial/left"), "over");
  expect(await copyAside(place())).toBe(6);
  expect(copied()).toBe("before");
  expect(existsSync(join(volume, "before-recovery/t/left"))).toBe(false);
});

test("copyAside() refuses without room for the copy and for etcd, and leaves nothing", async () => {
  const freeBytes = async (): Promise<number> => reservedBytes + 5;
  await expect(copyAside({ ...place(), freeBytes })).rejects.toThrow("the copy needs 6 bytes");
  expect(existsSync(place().target)).toBe(false);
});

test("the outcome of a copy is in the termination log", async () => {
  const log = join(volume, "log");
  expect(await runCopyAside(place(), log)).toBe(0);
  expect(JSON.parse(readFileSync(log, "utf8"))).toEqual({ bytes: 6 });
  expect(await runCopyAside({ source: join(volume, "none"), target: join(volume, "x/t") }, log)).toBe(1);
  expect(readFileSync(log, "utf8")).toContain("ENOENT");
});

test("copies are removed, and the member starts also when that is not possible", async () => {
  await copyAside(place());
  expect(await runRemoveCopies(join(volume, "before-recovery"), join(volume, "log"))).toBe(0);
  expect(existsSync(join(volume, "before-recovery"))).toBe(false);
  expect(existsSync(join(volume, "member-data/member/snap/db"))).toBe(true);
});
