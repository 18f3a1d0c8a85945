import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { processName, removeStaleLocks } from "./stale-locks.ts";

const folder = mkdtempSync(join(tmpdir(), "stale-locks-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ["of a process that is gone", "27\n/data\n", undefined, false],
  ["of another program with that number", "27\n/data\n", "psql", false],
  ["of a server that runs", "27\n/data\n", "postgres", true],
  ["of a server in single-user mode", "-27\n/data\n", "postgres", true],
  ["without a number, which PostgreSQL reports itself", "", undefined, true],
])("a lock file %s", (_, text, name, stays) => {
  const file = join(folder, "postmaster.pid");
  writeFileSync(file, text);
  removeStaleLocks([file, join(folder, "absent")], (pid) => (pid === 27 ? name : "other"));
  expect(existsSync(file)).toBe(stays);
});

test("the name of a process is that of its program", () => {
  expect(processName(process.pid)).not.toBe("postgres");
  expect(processName(2 ** 30)).toBeUndefined();
});
