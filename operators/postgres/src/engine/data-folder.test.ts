/** The program that prepares the data, run by the shell that images have. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cluster } from "../plan/situation.fixture.ts";
import { baseBackup } from "./base-backup.fixture.ts";
import { dataFolder } from "./data-folder.ts";
import { recoveryFile } from "./postgres-target.ts";

const folder = mkdtempSync(join(tmpdir(), "postgres-data-folder-"));
afterAll(() => rmSync(folder, { recursive: true }));

function prepare(name: string, lastTimeline: number, replay: boolean): string {
  const claimFolder = join(folder, name);
  const replayFolder = join(claimFolder, "replay");
  const snapshotFile = join(folder, `${name}.tar`);
  mkdirSync(replay ? join(replayFolder, "log") : claimFolder, { recursive: true });
  writeFileSync(snapshotFile, baseBackup());
  if (replay) writeFileSync(join(replayFolder, recoveryFile), "recovery_target_name = 'x'\n");
  const instance = cluster({}, { lastTimeline }) as Parameters<typeof dataFolder>[0];
  const [program = "", ...args] = dataFolder(instance, "r1", { snapshotFile, claimFolder, replayFolder }).command;
  execFileSync(program, args);
  // The tool may be started again after it was killed anywhere.
  if (!replay) execFileSync(program, args);
  return claimFolder;
}

test("a whole backup is unpacked, and recovers onto a timeline that the cluster has not had", () => {
  const claim = prepare("whole", 3, false);
  expect(readFileSync(join(claim, "pgdata/PG_VERSION"), "utf8")).toBe("17\n");
  expect(existsSync(join(claim, "pgdata/recovery.signal"))).toBe(true);
  expect(readdirSync(join(claim, "archived/log")).toSorted()).toEqual(["00000002.history", "00000003.history"]);
  const settings = readFileSync(join(claim, "recovery.conf"), "utf8");
  expect(settings).toContain("recovery_target_timeline = 'current'");
  expect(settings).toMatch(/^restore_command = 'test -e \S+\/archived\/log\/%f \|\| exit 1; cp .* \|\| exit 200'$/m);
});

test("with a replay the settings are those of its target", () => {
  const claim = prepare("moment", 3, true);
  expect(readFileSync(join(claim, "recovery.conf"), "utf8")).toBe("recovery_target_name = 'x'\n");
  expect(readdirSync(join(claim, "archived")).toSorted()).toEqual(["log", recoveryFile]);
  expect(existsSync(join(claim, "replay"))).toBe(false);
});
