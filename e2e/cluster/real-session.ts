/**
 * A genuine cluster from the outside: its session runs in namespaces of its own, and nothing of it stays
 * behind.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MachineState, runIsolated } from "./isolation.ts";
import type { Reference } from "./reference.ts";

export interface RealSession {
  /** A script that calls `runSession` of `session-parts.ts`; it gets SCRIPT BIN DIR and `args`. */
  readonly script: string;
  readonly args?: readonly string[];
  readonly signal: AbortSignal;
  /** Puts the archives of the images into `DIR/images`. */
  readonly prepare: (directory: string) => Promise<void>;
}

/** Resolves to whether the session ended well and left nothing behind. */
export async function runRealSession({ script, bin }: Reference, session: RealSession): Promise<boolean> {
  const machine = new MachineState();
  const directory = mkdtempSync(join(tmpdir(), "setpoint-real-"));
  let holds = false;
  try {
    await session.prepare(directory);
    const parts = [session.script, script, bin, directory, ...(session.args ?? [])];
    holds = (await runIsolated([process.execPath, "--conditions=@setpoint/source", ...parts], session.signal)) === 0;
  } finally {
    machine[Symbol.dispose]();
    rmSync(directory, { recursive: true });
  }
  const left = [...machine.newGroups(), ...processesAndMounts(directory)];
  if (left.length > 0) console.error(`Left behind: ${left.join(", ")}`);
  return holds && left.length === 0;
}

function processesAndMounts(directory: string): readonly string[] {
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .filter((line) => line.includes(directory));
  const processes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(directory));
  return [...mounts.map((line) => `mount ${line.split(" ")[1]}`), ...processes.map((pid) => `process ${pid}`)];
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // It ended while we looked.
  }
}
