/** The transfer program as a process of its own: its memory, and its end by a signal. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const program = new URL("large-transfer.fixture.ts", import.meta.url).pathname;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-agent-"));
  mkdirSync(join(folder, "encryptionSecret"));
  writeFileSync(join(folder, "encryptionSecret/2026"), Buffer.alloc(32, 1));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Started {
  readonly process: ChildProcess;
  /** The exit code, and what it printed. */
  readonly end: Promise<readonly [number | null, string]>;
}

function start(...args: readonly string[]): Started {
  const child = spawn(process.execPath, ["--conditions=@setpoint/source", program, folder, ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
  return { process: child, end: once(child, "close").then(([code]) => [code as number | null, text] as const) };
}

/** The largest resident size in MiB. */
async function memoryOf(mebibytes: number, task: string): Promise<number> {
  const [code, text] = await start(String(mebibytes), task).end;
  expect(code, readFileSync(join(folder, "result"), "utf8")).toBe(0);
  return Number(text);
}

function filesLeft(): readonly string[] {
  const entries = readdirSync(join(folder, "store"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test("300 MiB pass through in less than 220 MiB more memory than 1 MiB", { timeout: 120_000 }, async () => {
  const small = await memoryOf(1, "backup");
  await memoryOf(1, "delete");
  const sizes = [await memoryOf(300, "backup"), await memoryOf(300, "verify"), await memoryOf(300, "fetch")];
  console.log(`Memory: ${small} MiB for 1 MiB; for 300 MiB ${sizes.join(", ")} MiB (backup, verify, fetch)`);
  expect(Math.max(...sizes)).toBeLessThan(small + 220);
});

test("a backup that is stopped by SIGTERM leaves nothing and reports it", { timeout: 60_000 }, async () => {
  const started = start("100", "backup", "10");
  await vi.waitFor(() => expect(filesLeft()).toContain("00000001"), { timeout: 30_000 });
  started.process.kill("SIGTERM");
  const [code] = await started.end;
  expect(code).toBe(1);
  expect(JSON.parse(readFileSync(join(folder, "result"), "utf8"))).toMatchObject({
    outcome: "failed",
    reason: "Cancelled",
  });
  expect(filesLeft()).toEqual([]);
});

test("a backup that is killed is no backup, and the next attempt replaces it", { timeout: 60_000 }, async () => {
  const started = start("100", "backup", "10");
  await vi.waitFor(() => expect(filesLeft()).toContain("00000001"), { timeout: 30_000 });
  started.process.kill("SIGKILL");
  await started.end;
  expect(filesLeft()).not.toContain("large.json");
  const [verified] = await start("100", "verify").end;
  expect(verified).toBe(1);
  expect(JSON.parse(readFileSync(join(folder, "result"), "utf8"))).toMatchObject({ reason: "BackupMissing" });
  await memoryOf(20, "backup");
  await memoryOf(20, "verify");
  await memoryOf(20, "delete");
  expect(filesLeft()).toEqual([]);
});
