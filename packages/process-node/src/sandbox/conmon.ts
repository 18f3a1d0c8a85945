/**
 * conmon, the monitor of CRI-O and podman: one process a container, which starts it by an OCI runtime, writes
 * its output into the log and its exit code into a file, and goes on when the agent ends.
 */
import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { launchScript, shellWord } from "../host/launch.ts";
import type { ContainerStdin } from "./container-runtime.ts";
import type { TerminalSize } from "./terminal-relay.ts";

export interface ConmonOptions {
  /** The container's name for conmon and crun. */
  readonly name: string;
  readonly bundle: string;
  readonly logFile: string;
  readonly logBytesMax: number;
  readonly exitDirectory: string;
  readonly runtimeArguments: readonly string[];
  readonly tty: boolean;
  readonly stdin: ContainerStdin;
}

export const crunProgram = "/usr/bin/crun";
const problemLengthMax = 2_000;
export const conmonProgram = "/usr/bin/conmon";

export function conmonCommand(options: ConmonOptions): string[] {
  const { name, bundle, logFile, logBytesMax, exitDirectory, runtimeArguments, tty, stdin } = options;
  return [
    conmonProgram,
    ...["--api-version", "1", "--cid", name, "--cuuid", name, "--name", name],
    ...["--runtime", crunProgram, "--bundle", bundle],
    ...["--container-pidfile", join(bundle, "pid"), "--conmon-pidfile", join(bundle, "conmon.pid")],
    ...["--log-path", `k8s-file:${logFile}`, "--log-size-max", String(logBytesMax), "--no-sync-log"],
    ...["--exit-dir", exitDirectory, "--persist-dir", join(bundle, "persist")],
    ...["--socket-dir-path", bundle, "--full-attach", "--no-new-keyring"],
    ...(tty ? ["--terminal"] : []),
    ...stdinArguments[stdin],
    ...runtimeArguments.flatMap((argument) => ["--runtime-arg", argument]),
  ];
}

const stdinArguments: Readonly<Record<ContainerStdin, readonly string[]>> = {
  none: [],
  once: ["--stdin"],
  open: ["--stdin", "--leave-stdin-open"],
};

/**
 * Runs a command that becomes conmon; resolves with the process id of the container's program, which is
 * created but not started.
 */
export async function createByConmon(command: readonly string[], bundle: string): Promise<number> {
  const problems = join(bundle, "problems");
  const words = command.map(shellWord).join(" ");
  // Its answer comes through descriptor 3. It keeps that and its error output open, so do not wait until they
  // close.
  const answer = await launchScript(
    `{ cd ${shellWord(bundle)} && export _OCI_SYNCPIPE=3 && exec ${words}; } 3>&1 >/dev/null 2>${shellWord(problems)} | {
  IFS= read -r answer; printf '%s' "$answer"
}`,
  );
  const problem = readFileSync(problems, "utf8").slice(-problemLengthMax).trim();
  rmSync(problems, { force: true });
  if (answer === "") throw new Error(problem || "conmon ended");
  return createdPid(answer, problem);
}

/** conmon answers one line: `{"data": pid}`, or `{"data": -1, "message": "why not"}`. */
function createdPid(answer: string, problem: string): number {
  const { data, message } = JSON.parse(answer) as { readonly data: number; readonly message?: string };
  if (data > 0) return data;
  throw new Error(message?.trim() || problem || "crun ended");
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
  control(bundle, "2 0 0");
}

/** Of a container that has a terminal; for one that ended meanwhile, nothing. */
export function resizeTerminal(bundle: string, { rows, columns }: TerminalSize): void {
  try {
    control(bundle, `1 ${rows} ${columns}`);
  } catch {
    // The monitor has ended.
  }
}

function control(bundle: string, message: string): void {
  // Without a reader, opening would wait for one: the monitor has ended.
  const pipe = openSync(join(bundle, "ctl"), constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    writeSync(pipe, `${message}\n`);
  } finally {
    closeSync(pipe);
  }
}
