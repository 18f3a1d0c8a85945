import { spawn } from "node:child_process";
import { once } from "node:events";

const program = new URL("../../examples/etcd/start.ts", import.meta.url).pathname;

/** `npm start` in a process group of its own, as a terminal runs it. */
export class StartProcess implements AsyncDisposable {
  readonly #pid: number;
  readonly #ended: Promise<number | undefined>;
  readonly #ready: Promise<void>;

  constructor(directory: string) {
    const args = ["--conditions=@setpoint/source", program, "--data-dir", directory];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], detached: true });
    this.#pid = child.pid ?? 0;
    this.#ended = once(child, "exit").then(([code]) => (typeof code === "number" ? code : undefined));
    let said = "";
    this.#ready = new Promise((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        said += String(chunk);
        if (said.includes("Ready after")) resolve();
      });
      void this.#ended.then((code) => reject(new Error(`"npm start" ended with ${code}: ${said}`)));
    });
    this.#ready.catch(() => {});
  }

  get pid(): number {
    return this.#pid;
  }

  /** Resolves when the example's cluster runs. */
  untilReady(): Promise<void> {
    return this.#ready;
  }

  /** ^C: the terminal sends it to the whole foreground group. Resolves to the exit code. */
  interrupt(): Promise<number | undefined> {
    process.kill(-this.#pid, "SIGINT");
    return this.#ended;
  }

  /** `kill -9` of the main process alone. */
  async kill(): Promise<void> {
    process.kill(this.#pid, "SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(this.#pid, "SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#ended;
  }
}
