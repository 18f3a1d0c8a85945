/** `setpoint up` as a process of its own, started as a user starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const example = new URL("../../examples/start.ts", import.meta.url).pathname;
/**
 * A start that neither serves nor ends by then is stuck; one that waits for an image takes 20 s on a machine
 * with other work.
 */
const startMsMax = 60_000;

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
function attempt(flags: readonly string[]): Promise<Attempt> {
  return untilEnd(start([bin, "up", ...flags]));
}

/** `npm start`, expected to end by itself. */
export function attemptExample(flags: readonly string[], env: Readonly<Record<string, string>>): Promise<Attempt> {
  return untilEnd(start([example, ...flags], env));
}

async function untilEnd({ child, ended }: Started): Promise<Attempt> {
  const timer = setTimeout(() => child.kill("SIGKILL"), startMsMax);
  const answer = await ended;
  clearTimeout(timer);
  return answer;
}

/** A start that is expected to serve; disposing is a ^C that is waited for. */
async function ready(flags: readonly string[]): Promise<RunningSetpoint> {
  const { child, ended } = start([bin, "up", ...flags]);
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

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Attempt>;
}

function start(command: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const child = spawn(process.execPath, ["--conditions=@setpoint/source", ...command], {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Attempt>((resolve) =>
    child.once("close", (code) => resolve({ code, stdout, stderr: withoutSlowLoad(stderr) })),
  );
  return { child, ended };
}

/** On a busy machine the command says first that it is still being loaded. */
function withoutSlowLoad(stderr: string): string {
  return stderr.replaceAll(/^ {2}loading the program, .*\n/gm, "");
}

export const setpointUp: typeof attempt & { readonly ready: typeof ready } = Object.assign(attempt, { ready });
