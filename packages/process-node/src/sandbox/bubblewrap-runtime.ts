import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Clock } from "@setpoint/host";
import { sleep } from "@setpoint/host";
import type { ContainerExit, ContainerRuntime, ContainerSpec, RunningContainer } from "../container-runtime.ts";
import { nodeError } from "../errors.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { writeOwnFiles } from "./own-files.ts";
import { execInSandbox } from "./sandbox-exec.ts";
import { signalNumber } from "./signals.ts";
import { findProgram } from "./root-path.ts";

export interface BubblewrapRuntimeOptions {
  readonly clock: Clock;
  /** A folder of the agent's own for the text files of containers. */
  readonly directory: string;
}

/** How long a sandbox may take from its start until its main process runs; it is milliseconds on an idle machine. */
const startTimeoutMs = 10_000;
const startPollMs = 2;
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Runs containers as bubblewrap sandboxes. They die with the process that called `start`. */
export class BubblewrapRuntime implements ContainerRuntime {
  readonly name = "process";
  readonly version: string;
  readonly #options: BubblewrapRuntimeOptions;
  readonly #privileged: boolean = process.getuid?.() === 0;

  constructor(options: BubblewrapRuntimeOptions) {
    this.#options = options;
    this.version = bubblewrapVersion();
  }

  async start(spec: ContainerSpec): Promise<RunningContainer> {
    const program = this.#program(spec);
    const files = this.#writeFiles(spec);
    const args = bubblewrapArguments(spec, program, { privileged: this.#privileged, files, statusFd: 3 });
    const child = spawn("bwrap", args, { stdio: ["ignore", "pipe", "pipe", "pipe"], env: {} });
    let startErrors = "";
    child.stdout?.on("data", (chunk: Uint8Array) => spec.onOutput("stdout", chunk));
    child.stderr?.on("data", (chunk: Uint8Array) => {
      if (startErrors.length < 2_000) startErrors += Buffer.from(chunk).toString();
      spec.onOutput("stderr", chunk);
    });
    const exited = exitOf(child);
    const sandboxPid = await Promise.race([childPid(child), exited.then(() => undefined)]);
    const pid = sandboxPid === undefined ? undefined : await this.#mainProcess(sandboxPid, exited);
    if (sandboxPid === undefined) {
      await exited;
      throw nodeError(
        "ERR_CONTAINER_START",
        `Cannot start container "${spec.id}": ${startErrors.trim() || "bwrap ended at once"}`,
      );
    }
    const updateFiles: RunningContainer["updateFiles"] = (fresh) =>
      void writeOwnFiles(this.#folder(spec), fresh, files);
    return running({ spec, sandboxPid, pid: pid ?? sandboxPid, exited, updateFiles });
  }

  #program(spec: ContainerSpec): string {
    const [name = ""] = spec.command;
    const program = findProgram(spec.rootDirectory, name, spec.env["PATH"] ?? defaultPath);
    const isMounted = spec.mounts.some(({ target }) => name.startsWith(`${target}/`));
    if (program !== undefined || isMounted) return program ?? name;
    const message = `exec: "${name}": executable file not found in the image`;
    throw nodeError("ERR_CONTAINER_START", `Cannot start container "${spec.id}": ${message}`);
  }

  #writeFiles(spec: ContainerSpec): Record<string, string> {
    const folder = this.#folder(spec);
    mkdirSync(folder, { recursive: true });
    return writeOwnFiles(folder, spec.files);
  }

  #folder(spec: ContainerSpec): string {
    return join(this.#options.directory, spec.id);
  }

  /** bubblewrap's own first process starts the program as its child and reaps orphans. */
  async #mainProcess(sandboxPid: number, exited: Promise<ContainerExit>): Promise<number | undefined> {
    const { clock } = this.#options;
    let over = false;
    void exited.then(() => (over = true));
    const deadline = clock.monotonic() + startTimeoutMs;
    while (!over && clock.monotonic() < deadline) {
      const pid = onlyChild(sandboxPid);
      if (pid !== undefined && !isBubblewrap(pid)) return pid;
      await sleep(clock, startPollMs);
    }
    return undefined;
  }
}

interface StartedSandbox extends Pick<RunningContainer, "sandboxPid" | "pid" | "exited" | "updateFiles"> {
  readonly spec: ContainerSpec;
}

function running({ spec, sandboxPid, pid, exited, updateFiles }: StartedSandbox): RunningContainer {
  let over = false;
  void exited.then(() => (over = true));
  // After the end the numbers may belong to strangers.
  const send = (to: number, signal: NodeJS.Signals): void => {
    if (!over) killIfThere(to, signal);
  };
  return {
    id: spec.id,
    pid,
    sandboxPid,
    exited,
    updateFiles,
    signal: (name) => send(pid, name),
    // Not bubblewrap's outer process: it ends when the kernel has ended everything inside, and so tells when that is so.
    destroy: () => send(sandboxPid, "SIGKILL"),
    exec: (command, options) => execInSandbox({ pid, spec, command, tty: options?.tty ?? false }),
  };
}

/** The exit of bubblewrap is that of the program: its code, or 128 + signal. Output is complete when it resolves. */
function exitOf(child: ChildProcess): Promise<ContainerExit> {
  return new Promise((resolve) => {
    child.once("error", () => resolve({ exitCode: 127 }));
    child.once("close", (code, signal) => resolve({ exitCode: code ?? 128 + signalNumber(signal) }));
  });
}

/** The first document on the status descriptor names the sandbox's first process. */
function childPid(child: ChildProcess): Promise<number | undefined> {
  const status = child.stdio[3] as Readable | null | undefined;
  return new Promise((resolve) => {
    let text = "";
    status?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = /"child-pid":\s*(\d+)/.exec(text)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    status?.once("close", () => resolve(undefined));
  });
}

function onlyChild(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return first ? Number(first) : undefined;
  } catch {
    return undefined;
  }
}

/** Between fork and exec the child still is bubblewrap. */
function isBubblewrap(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "bwrap";
  } catch {
    return false;
  }
}

function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in between.
  }
}

function bubblewrapVersion(): string {
  try {
    return execFileSync("bwrap", ["--version"], { encoding: "utf8" }).trim().split(" ").at(-1) ?? "unknown";
  } catch (error) {
    throw nodeError(
      "ERR_TOOL_MISSING",
      "Cannot run pods: bubblewrap is not installed; type: apt-get install bubblewrap",
      error,
    );
  }
}
