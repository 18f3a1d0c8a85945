/** A shell that keeps its folder and its variables from command to command, as a terminal does. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Ran {
  readonly code: number;
  readonly text: string;
}

const lookMs = 100;
/** A cluster that is killed before it has stopped leaves its pods running; a stop may take a minute. */
const stopMsMax = 150_000;

export class Shell implements AsyncDisposable {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #groups = new Set<ChildProcess>();
  #count = 0;

  /** `folder` is for its own files; `start` is where it begins. */
  constructor(folder: string, start: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
    writeFileSync(join(folder, "cwd"), start);
    writeFileSync(join(folder, "variables"), "");
  }

  get cwd(): string {
    return readFileSync(join(this.#folder, "cwd"), "utf8").trim();
  }

  /** Resolves when the command has ended. */
  async run(command: string, seconds: number): Promise<Ran> {
    const { child, read } = this.#start(command);
    const deadlineMs = performance.now() + seconds * 1_000;
    while (child.exitCode === null && child.signalCode === null) {
      if (performance.now() > deadlineMs) {
        await this.#stop(child);
        return { code: -1, text: `${read()}\n(not over after ${seconds} s)` };
      }
      await pause();
    }
    return { code: child.exitCode ?? 128, text: read() };
  }

  /** Resolves when the command has printed what is wanted, or has ended. It goes on until the shell ends. */
  async runUntil(command: string, wanted: RegExp, seconds: number): Promise<Ran> {
    const { child, read } = this.#start(command);
    const deadlineMs = performance.now() + seconds * 1_000;
    const isBackground = /&\s*$/.test(command);
    while (!wanted.test(read())) {
      const isOver = child.exitCode !== null && !isBackground;
      if (isOver || performance.now() > deadlineMs) return { code: child.exitCode ?? -1, text: read() };
      await pause();
    }
    return { code: 0, text: read() };
  }

  #start(command: string): { readonly child: ChildProcess; readonly read: () => string } {
    const output = join(this.#folder, `output-${this.#count++}`);
    const cwd = join(this.#folder, "cwd");
    const variables = join(this.#folder, "variables");
    const script = `cd "$(cat "${cwd}")"; . "${variables}"; set -a\n${command}\nended=$?; pwd > "${cwd}"; export -p > "${variables}"; exit $ended`;
    const file = openSync(output, "w");
    // A process group of its own, because what runs in the background ends with the shell.
    const child = spawn("bash", ["-c", script], {
      env: this.#env,
      stdio: ["ignore", file, file],
      detached: true,
    });
    closeSync(file);
    this.#groups.add(child);
    return { child, read: () => readFileSync(output, "utf8") };
  }

  /** In order, and then for good. Not SIGINT, which a shell lets its background commands ignore. */
  async #stop(child: ChildProcess): Promise<void> {
    this.#groups.delete(child);
    const deadlineMs = performance.now() + stopMsMax;
    signalGroup(child, "SIGTERM");
    while (groupRuns(child) && performance.now() < deadlineMs) await pause();
    signalGroup(child, "SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#groups].map((child) => this.#stop(child)));
  }
}

function groupRuns({ pid }: ChildProcess): boolean {
  try {
    return pid !== undefined && process.kill(-pid, 0);
  } catch {
    return false;
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // All of them have ended.
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, lookMs));
}
