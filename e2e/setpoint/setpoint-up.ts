/** `setpoint up` as a process of its own, started as a user starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const bin = new URL("../../packages/cli/bin/setpoint.ts", import.meta.url).pathname;
/** A start that neither serves nor ends by then is stuck. */
const startMsMax = 20_000;

export interface Attempt {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningSetpoint extends AsyncDisposable {
  isRunning(): boolean;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-up-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A start that is expected to end by itself. */
async function attempt(flags: readonly string[]): Promise<Attempt> {
  const { child, ended } = start(flags);
  const timer = setTimeout(() => child.kill("SIGKILL"), startMsMax);
  const answer = await ended;
  clearTimeout(timer);
  return answer;
}

/** A start that is expected to serve; disposing is a ^C that is waited for. */
async function ready(flags: readonly string[]): Promise<RunningSetpoint> {
  const { child, ended } = start(flags);
  const serves = new Promise<boolean>((resolve) => child.stdout?.once("data", () => resolve(true)));
  const isServing = await Promise.race([serves, ended.then(() => false)]);
  if (!isServing) throw new Error(`setpoint up ended: ${(await ended).stderr}`);
  return {
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await ended;
    },
  };
}

function start(flags: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Attempt> } {
  const child = spawn(process.execPath, ["--conditions=@setpoint/source", bin, "up", ...flags], {
    cwd: tmpdir(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Attempt>((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
  return { child, ended };
}

export const setpointUp: typeof attempt & { readonly ready: typeof ready } = Object.assign(attempt, { ready });
