/** The campaign's side of a process that runs tests against mutants. */
import { fork, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Verdict } from "./worker.ts";

/** A mutant that makes a test run so much longer than ever is taken for one that never ends. */
const mutantMsMax = 30_000;

/** "endless": the process had to be killed, and cannot be used again. */
export type Fate = "killed" | "survived" | "endless";

export class MutationWorker {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static start(aliveFile: string): Promise<MutationWorker> {
    writeFileSync(aliveFile, "0");
    const child = fork(new URL("./worker.ts", import.meta.url).pathname, {
      cwd: new URL("../..", import.meta.url).pathname,
      // A group of its own, so that the test processes below it end with it.
      detached: true,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...process.env, SETPOINT_MUTANT_FILE: aliveFile },
    });
    return new Promise((resolve, reject) => {
      child.once("message", () => resolve(new MutationWorker(child)));
      child.once("exit", (code) => reject(new Error(`The test worker ended with ${code}`)));
    });
  }

  try(mutant: number, files: readonly string[]): Promise<Fate> {
    return new Promise((resolve) => {
      const end = (verdict: Fate): void => {
        clearTimeout(timer);
        this.#child.removeAllListeners("message");
        this.#child.removeAllListeners("exit");
        resolve(verdict);
      };
      const timer = setTimeout(() => {
        this.stop();
        end("endless");
      }, mutantMsMax);
      this.#child.once("message", ({ isKilled }: Verdict) => end(isKilled ? "killed" : "survived"));
      this.#child.once("exit", () => end("endless"));
      this.#child.send({ mutant, testFiles: files });
    });
  }

  stop(): void {
    const { pid } = this.#child;
    try {
      if (pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
