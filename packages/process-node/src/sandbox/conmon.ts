/**
 * conmon, the monitor of CRI-O and podman: one process a container, which starts it by an OCI runtime, writes its output
 * into the log and its exit code into a file, and goes on when the agent ends.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { toolEnvironment } from "./run-tool.ts";

export interface ConmonOptions {
  /** The container's name for conmon and crun. */
  readonly name: string;
  readonly bundle: string;
  readonly logFile: string;
  readonly logBytesMax: number;
  readonly exitDirectory: string;
  readonly runtimeArguments: readonly string[];
}

export const crunProgram = "/usr/bin/crun";
export const conmonProgram = "/usr/bin/conmon";

export function conmonCommand(options: ConmonOptions): string[] {
  const { name, bundle, logFile, logBytesMax, exitDirectory, runtimeArguments } = options;
  return [
    conmonProgram,
    ...["--api-version", "1", "--cid", name, "--cuuid", name, "--name", name],
    ...["--runtime", crunProgram, "--bundle", bundle],
    ...["--container-pidfile", join(bundle, "pid"), "--conmon-pidfile", join(bundle, "conmon.pid")],
    ...["--log-path", `k8s-file:${logFile}`, "--log-size-max", String(logBytesMax), "--no-sync-log"],
    ...["--exit-dir", exitDirectory, "--persist-dir", join(bundle, "persist")],
    ...["--socket-dir-path", bundle, "--full-attach", "--no-new-keyring"],
    ...runtimeArguments.flatMap((argument) => ["--runtime-arg", argument]),
  ];
}

/** Runs a command that becomes conmon; resolves with the process id of the container's program, which is created but not started. */
export function createByConmon(command: readonly string[], bundle: string): Promise<number> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: bundle,
    env: { ...toolEnvironment, _OCI_SYNCPIPE: "3" },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    detached: true,
  });
  child.unref();
  return createdPid(child);
}

/** conmon answers one line: `{"data": pid}`, or `{"data": -1, "message": "why not"}`. */
function createdPid(child: ChildProcess): Promise<number> {
  const pipe = child.stdio[3] as Readable;
  return new Promise((resolve, reject) => {
    let [answer, problem] = ["", ""];
    const finish = (settle: () => void): void => {
      for (const stream of [pipe, child.stderr]) stream?.destroy();
      settle();
    };
    child.stderr?.on("data", (chunk: Buffer) => (problem = `${problem}${chunk.toString()}`.slice(-2_000)));
    child.once("error", (error) => finish(() => reject(error)));
    pipe.on("data", (chunk: Buffer) => {
      answer += chunk.toString();
      if (!answer.includes("\n")) return;
      const { data, message } = JSON.parse(answer) as { readonly data: number; readonly message?: string };
      finish(() => (data > 0 ? resolve(data) : reject(new Error(message?.trim() || problem.trim() || "crun ended"))));
    });
    pipe.once("end", () => finish(() => reject(new Error(problem.trim() || "conmon ended"))));
    pipe.once("error", (error) => finish(() => reject(error)));
  });
}

/** Undefined when it has not written it. */
export function conmonPid(bundle: string): number | undefined {
  try {
    return Number(readFileSync(join(bundle, "conmon.pid"), "utf8").trim());
  } catch {
    return undefined;
  }
}

/** By its control pipe; message 2 has two numbers that mean nothing here. */
export function reopenLog(bundle: string): void {
  // Without a reader, opening would wait for one: the monitor has ended.
  const pipe = openSync(join(bundle, "ctl"), constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    writeSync(pipe, "2 0 0\n");
  } finally {
    closeSync(pipe);
  }
}
