/**
 * Starts programs of the host from a small shell that lives as long as this process. A process that starts
 * another is copied first, its page tables at least: that stops an agent for 7 to 50 ms, and the shell for
 * less than one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { killTree } from "./process-tree.ts";

export interface LaunchOptions {
  /** What the program reads. */
  readonly input?: string;
  /** After this time the program is ended and the launch rejected. */
  readonly msMax?: number;
}

interface Job {
  readonly resolve: (said: string) => void;
  readonly reject: (error: Error) => void;
  /** Of the shell that waits for the program. */
  pid?: number;
}

/** Fixed, so that the environment of the caller has no effect. */
const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
const launchMsMax = 30_000;
/** Shorter than what a pipe takes in one piece, so that answers of several programs do not mix. */
const saidBytesMax = 4_000;

class Launcher {
  readonly #jobs = new Map<string, Job>();
  #shell: ChildProcess | undefined;
  #lastId = 0;
  #answers = "";

  run(script: string, msMax: number): Promise<string> {
    const shell = (this.#shell ??= this.#start());
    const id = String(++this.#lastId);
    const late = AbortSignal.timeout(msMax);
    const end = (): void => this.#giveUp(id, msMax);
    late.addEventListener("abort", end, { once: true });
    return new Promise<string>((resolve, reject) => {
      this.#jobs.set(id, { resolve, reject });
      keepAwake(shell, true);
      shell.stdin?.write(jobScript(id, script));
    }).finally(() => late.removeEventListener("abort", end));
  }

  #start(): ChildProcess {
    const shell = spawn("/bin/sh", [], { cwd: "/", env, stdio: ["pipe", "pipe", "ignore"], detached: true });
    const ended = (): void => {
      if (this.#shell === shell) this.#shell = undefined;
      for (const id of this.#jobs.keys()) this.#settle(id, ({ reject }) => reject(new Error("the shell ended")));
    };
    shell.stdin?.on("error", () => {});
    shell.stdout?.on("data", (chunk: Buffer) => this.#read(chunk.toString()));
    shell.once("error", ended);
    shell.once("exit", ended);
    return shell;
  }

  #read(text: string): void {
    const answers = (this.#answers + text).split("\0");
    this.#answers = answers.pop() ?? "";
    for (const answer of answers) this.#answered(answer);
  }

  #answered(answer: string): void {
    const [, id = "", what, number, said = ""] = /^(\d+) (runs|ended) (\d+) ?(.*)$/s.exec(answer) ?? [];
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    if (what === "runs") job.pid = Number(number);
    else if (number === "0") this.#settle(id, ({ resolve }) => resolve(said));
    else this.#settle(id, ({ reject }) => reject(new Error(said.trim() || `exit code ${number}`)));
  }

  #giveUp(id: string, msMax: number): void {
    const pid = this.#jobs.get(id)?.pid;
    if (pid !== undefined) killTree(pid);
    this.#settle(id, ({ reject }) => reject(new Error(`no end after ${msMax} ms`)));
  }

  #settle(id: string, settle: (job: Job) => void): void {
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    if (this.#jobs.size === 0 && this.#shell !== undefined) keepAwake(this.#shell, false);
    if (job !== undefined) settle(job);
  }
}

const launcher = new Launcher();

/**
 * Runs a program to its end; resolves with what it wrote, at most 4,000 bytes, and rejects with that when it
 * fails.
 */
export function launch(command: readonly string[], options: LaunchOptions = {}): Promise<string> {
  const { input, msMax = launchMsMax } = options;
  const words = command.map(shellWord).join(" ");
  return launcher.run(input === undefined ? `exec ${words}` : `exec ${words} ${hereDocument(input)}`, msMax);
}

/** The same for lines of the shell, which run in a process of their own. */
export function launchScript(script: string): Promise<string> {
  return launcher.run(script, launchMsMax);
}

/** The text as one word of the shell. Throws on a zero byte, which no word has. */
export function shellWord(text: string): string {
  if (text.includes("\0")) throw new TypeError(`Cannot start a program: ${JSON.stringify(text)} has a zero byte`);
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A here-document whose end line does not occur in the text, so that the shell interprets nothing in it. */
function hereDocument(text: string): string {
  if (text.includes("\0")) throw new TypeError("Cannot start a program: its input has a zero byte");
  let end = "END";
  while (text.includes(end)) end += "_";
  return `<<'${end}'\n${text.endsWith("\n") || text === "" ? text : `${text}\n`}${end}`;
}

/** The program's shell is named first, because it may have to be ended. */
function jobScript(id: string, script: string): string {
  return `{ said=$(exec 2>&1 </dev/null
${script}
); printf '%s ended %s %.${saidBytesMax}s\\0' ${id} $? "$said"; } &
printf '%s runs %s\\0' ${id} $!
`;
}

/** This process may end while no program runs: the shell ends with it. */
function keepAwake(shell: ChildProcess, isAwake: boolean): void {
  const parts = [shell, shell.stdin as Socket | null, shell.stdout as Socket | null];
  for (const part of parts) {
    if (isAwake) part?.ref();
    else part?.unref();
  }
}
