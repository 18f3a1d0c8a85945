import { spawn } from "node:child_process";
import { once } from "node:events";

const program = new URL("../../examples/start.ts", import.meta.url).pathname;

const stopMsMax = 30_000;

/** `npm start` in a process group of its own, as a terminal runs it. */
export class StartProcess implements AsyncDisposable {
  readonly #pid: number;
  readonly #ended: Promise<number | undefined>;
  readonly #ready: Promise<void>;

  constructor(directory: string) {
    const args = ["--conditions=@setpoint/source", program, "--data-dir", directory];
    // npm sets this variable for everything below it; the agents of the cluster must outlive their parent all
    // the same.
    const env = { ...process.env, npm_command: "run-script" };
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], detached: true, env });
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

  /** In order, so that a test that fails leaves no pods behind; by force when that takes too long. */
  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => signal(this.#pid, "SIGKILL"), stopMsMax);
    signal(-this.#pid, "SIGINT");
    await this.#ended;
    clearTimeout(timer);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}
