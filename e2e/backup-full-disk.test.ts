/** Backups to file systems that are really full and really read-only. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { AgentSetting, sampleData } from "../packages/data-service/src/agent/agent-setting.fixture.ts";

const root = mkdtempSync(join(tmpdir(), "setpoint-full-disk-"));
const mounted: string[] = [];
afterAll(() => {
  for (const folder of mounted) spawnSync("umount", [folder]);
  rmSync(root, { recursive: true });
});

/** Mounts a file system in memory; false where that is not allowed. */
function mount(folder: string, options: string): boolean {
  mkdirSync(folder);
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]).status === 0;
  if (isMounted) mounted.push(folder);
  else console.log(`Skipped: cannot mount a tmpfs (${options}) here; this test needs root`);
  return isMounted;
}

test("a full disk is StoreFull, nothing of the backup is left, and a smaller backup succeeds", async ({ skip }) => {
  const folder = join(root, "full");
  if (!mount(folder, "size=12m")) return skip();
  using setting = new AgentSetting();
  setting.place = { type: "folder", folder };
  setting.data = sampleData(20_000_000);
  const { result } = await setting.run({ task: "backup", object: "orders" });
  expect(result).toMatchObject({ outcome: "failed", reason: "StoreFull", retry: false });
  expect(readdirSync(folder)).toEqual([]);
  setting.data = sampleData(1_000_000);
  expect((await setting.run({ task: "backup", object: "orders" })).exitCode).toBe(0);
});

test("a read-only disk refuses a backup, and is good enough to verify one", async ({ skip }) => {
  const folder = join(root, "read-only");
  if (!mount(folder, "size=12m")) return skip();
  using setting = new AgentSetting();
  setting.place = { type: "folder", folder };
  await setting.run({ task: "backup", object: "orders" });
  expect(spawnSync("mount", ["-o", "remount,ro", folder]).status).toBe(0);
  expect((await setting.run({ task: "verify", object: "orders" })).exitCode).toBe(0);
  expect((await setting.run({ task: "fetch", object: "orders" })).exitCode).toBe(0);
  const { result } = await setting.run({ task: "backup", object: "bills" });
  expect(result).toMatchObject({ outcome: "failed", reason: "StoreRefused", retry: false });
  const deleted = await setting.run({ task: "delete", object: "orders" });
  expect(deleted.result).toMatchObject({ outcome: "failed", reason: "StoreRefused" });
});
