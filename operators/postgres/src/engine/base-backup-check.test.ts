import { InvalidSnapshotError } from "@setpoint/data-service/agent";
import { expect, test } from "vitest";
import { baseBackup, type TarFile } from "./base-backup.fixture.ts";
import { BaseBackupCheck, type BaseBackupFacts } from "./base-backup-check.ts";

function check(archive: Buffer, pieceBytes = 4_096): BaseBackupFacts {
  const whole = new BaseBackupCheck();
  for (let at = 0; at < archive.length; at += pieceBytes) whole.push(archive.subarray(at, at + pieceBytes));
  return whole.finish();
}

test.each([1, 100, 511, 512, 4_096, 1_000_000])("a whole base backup in pieces of %i bytes", (pieceBytes) => {
  const archive = baseBackup();
  expect(check(archive, pieceBytes)).toEqual({
    version: "17",
    systemId: "7530000000000000077",
    timeline: 2,
    start: "0/4000028",
    end: "0/5000100",
    bytes: archive.length,
  });
});

const without = (path: string) => (files: readonly TarFile[]) => files.filter((file) => file.path !== path);
const changed = (path: string) => (files: readonly TarFile[]) =>
  files.map((file) => (file.path === path ? { path, data: Buffer.alloc(file.data.length, 9) } : file));

test.each([
  ["a file is missing", without("base/1/1259"), "lacks the file base/1/1259"],
  ["a file has other bytes", changed("base/1/1259"), "the file base/1/1259 of the base backup is not what"],
  ["its log has a gap", without("pg_wal/000000020000000000000005"), "lacks the segment 000000020000000000000005"],
  ["it has no manifest", without("backup_manifest"), "lacks the file backup_manifest"],
  ["its manifest is nonsense", changed("backup_manifest"), "the manifest of the base backup cannot be read"],
])("a base backup is refused when %s", (_, change, message) => {
  const damaged = (): unknown => check(baseBackup(change));
  expect(damaged).toThrow(InvalidSnapshotError);
  expect(damaged).toThrow(message);
});

test("a base backup that is cut off anywhere, or is none, is refused", () => {
  const archive = baseBackup();
  for (const bytes of [0, 300, 600, archive.length / 2, archive.length - 1_024])
    expect(() => check(archive.subarray(0, bytes))).toThrow("is cut off");
  expect(() => check(Buffer.alloc(2_000, 65))).toThrow("is no tar archive");
});
