/**
 * The programs of this machine: no shell, a clean environment, bounded in time and output, gone when the run
 * is.
 */
import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { lstat, readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { isSetpointError } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { errProgram, programError, type ProgramCall, type ProgramEnd, type Programs } from "./programs.ts";

/** Where programs run, and how many watched files are allowed. */
export interface SystemProgramsOptions {
  readonly clock: Clock;
  /** Where programs run, and what relative paths are relative to. */
  readonly folder: string;
  /** Files below the watched folders; default 5,000. */
  readonly filesMax?: number;
}

const filesMaxDefault = 5_000;
/** Of what a program says to its standard error, the end is kept: that is where the reason is. */
const stderrBytesMax = 16_384;

/** Runs programs as processes of this machine. */
export function systemPrograms({ clock, folder, filesMax = filesMaxDefault }: SystemProgramsOptions): Programs {
  return {
    run: (call, signal) => run(call, signal, clock, folder),
    fingerprint: async (paths) => {
      const lines: string[] = [];
      for (const path of paths) await note(resolve(folder, path), folder, lines, filesMax);
      return lines.join("\n");
    },
  };
}

type Piped = ChildProcessByStdio<Writable, Readable, Readable>;

async function run(call: ProgramCall, signal: AbortSignal, clock: Clock, folder: string): Promise<ProgramEnd> {
  signal.throwIfAborted();
  const { command, timeoutMs } = call;
  const early = new AbortController();
  const end = (problem: string): void => early.abort(programError(command, problem));
  const child = start(call, folder);
  const timer = clock.setTimer(() => end(`it has not ended within ${timeoutMs / 1_000} s`), timeoutMs);
  const either = AbortSignal.any([signal, early.signal]);
  const kill = (): void => killGroup(child);
  either.addEventListener("abort", kill);
  try {
    const ended = await collect(child, call, end);
    if (either.aborted) throw either.reason;
    return ended;
  } catch (error) {
    if (either.aborted) throw either.reason;
    if (isSetpointError(error, errProgram)) throw error;
    throw programError(command, reasonOf(error), error);
  } finally {
    either.removeEventListener("abort", kill);
    timer.cancel();
  }
}

function start({ command, input, environment }: ProgramCall, folder: string): Piped {
  const [program = "", ...args] = command;
  // HOME is the author's folder: programs look there for settings and plugins, and nobody else's are wanted.
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, LANG: "C.UTF-8", ...environment };
  // In a group of its own, so that what it starts is ended with it.
  const child = spawn(program, args, { cwd: folder, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  // A program need not read what it is given.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return child;
}

function collect(child: Piped, { outputBytesMax }: ProgramCall, end: (problem: string) => void): Promise<ProgramEnd> {
  const out: Buffer[] = [];
  let outLength = 0;
  let err: Buffer = Buffer.alloc(0);
  child.stdout.on("data", (chunk: Buffer) => {
    outLength += chunk.length;
    if (outLength <= outputBytesMax) out.push(chunk);
    else end(`it writes more than ${outputBytesMax} bytes`);
  });
  child.stderr.on("data", (chunk: Buffer) => (err = Buffer.concat([err, chunk]).subarray(-stderrBytesMax)));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, name) => {
      const stderr = err.toString("utf8");
      if (code === null) return reject(new Error(`it was ended by ${name ?? "a signal"}`));
      resolve({ code, stdout: Buffer.concat(out).toString("utf8"), stderr });
    });
  });
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such program, or its folder is missing";
  if (code === "EACCES") return "it is no program that may be run";
  return message;
}

/** Size and time of change of a file, or of all files below a folder. */
async function note(path: string, folder: string, lines: string[], filesMax: number): Promise<void> {
  const stat = await lstat(path).catch((cause: unknown) => {
    throw programError([relative(folder, path)], "`files` names it, but there is no such file", cause);
  });
  if (!stat.isDirectory()) {
    if (lines.length >= filesMax) throw programError([relative(folder, path)], `there are more than ${filesMax} files`);
    lines.push(`${relative(folder, path)} ${stat.size} ${stat.mtimeMs}`);
    return;
  }
  for (const name of (await readdir(path)).toSorted()) await note(join(path, name), folder, lines, filesMax);
}
