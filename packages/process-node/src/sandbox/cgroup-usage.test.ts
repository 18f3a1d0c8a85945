import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readGroupUsage } from "./cgroup-usage.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function hierarchy(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "setpoint-cgroups-"));
  folders.push(root);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

const used = { cpuNanos: 3_000_000_000, memoryBytes: 1_000, workingSetBytes: 900 };

test("readGroupUsage() reads both versions of control groups", async () => {
  const second = hierarchy({
    "setpoint/a/cpu.stat": "usage_usec 3000000\nuser_usec 1\n",
    "setpoint/a/memory.current": "1000\n",
    "setpoint/a/memory.stat": "anon 10\ninactive_file 100\n",
  });
  expect(await readGroupUsage(second, 2, "setpoint/a")).toEqual(used);
  const first = hierarchy({
    "cpuacct/setpoint/a/cpuacct.usage": "3000000000\n",
    "memory/setpoint/a/memory.usage_in_bytes": "1000\n",
    "memory/setpoint/a/memory.stat": "inactive_file 1\ntotal_inactive_file 100\n",
  });
  expect(await readGroupUsage(first, 1, "setpoint/a")).toEqual(used);
});

test("readGroupUsage() has nothing of a group that is gone, and of a host without groups", async () => {
  const root = hierarchy({});
  expect(await readGroupUsage(root, 2, "setpoint/a")).toBeUndefined();
  expect(await readGroupUsage(root, 1, "setpoint/a")).toBeUndefined();
  expect(await readGroupUsage(root, "none", "setpoint/a")).toBeUndefined();
});
