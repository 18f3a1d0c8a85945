/** The campaign's side of a process that runs tests against mutants. */
import { fork, type ChildProcess } from "node:child_process";
import type { Answer, Ready, Survey, Task, TimedTest, Verdict } from "./test-process.ts";

/** A process that is silent so much longer than its test usually takes is caught in a loop. */
const silenceMsMax = 6000;
const slownessMax = 20;

export class MutationWorker {
  readonly ready: Ready;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, ready: Ready) {
    this.#child = child;
    this.ready = ready;
  }

  /**
   * Undefined when the tests cannot even be imported, which a mutant that is alive from the start can bring
   * about.
   */
  static start(testFiles: readonly string[], mutant = 0): Promise<MutationWorker | undefined> {
    const child = fork(new URL("./test-process.ts", import.meta.url).pathname, testFiles, {
      cwd: new URL("../..", import.meta.url).pathname,
      execArgv: ["--conditions=@setpoint/source"],
      stdio: ["ignore", "ignore", mutant === 0 ? "inherit" : "ignore", "ipc"],
      env: { ...process.env, SETPOINT_MUTANT: String(mutant) },
    });
    return new Promise((resolve) => {
      child.once("message", (ready: Ready) => resolve(new MutationWorker(child, ready)));
      child.once("exit", () => resolve(undefined));
    });
  }

  async survey(index: number): Promise<Survey | undefined> {
    return (await this.#ask({ tests: [{ index, durationMs: 0 }] })) as Survey | undefined;
  }

  async try(mutant: number, tests: readonly TimedTest[]): Promise<Verdict> {
    return ((await this.#ask({ mutant, tests })) as Verdict | undefined) ?? { fate: "endless" };
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }

  /** Undefined when there is no answer. */
  #ask(task: Task): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const end = (answer?: Answer): void => {
        clearTimeout(timer);
        this.#child.removeAllListeners("message");
        this.#child.removeAllListeners("exit");
        resolve(answer);
      };
      const wait = (durationMs: number): NodeJS.Timeout => setTimeout(end, silenceMsMax + slownessMax * durationMs);
      let timer = wait(0);
      this.#child.on("message", (message: Answer | TimedTest) => {
        if ("fate" in message || "reached" in message) return end(message);
        clearTimeout(timer);
        timer = wait(message.durationMs);
      });
      this.#child.once("exit", () => end());
      this.#child.send(task);
    });
  }
}
