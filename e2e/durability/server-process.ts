import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = new URL("api-server.ts", import.meta.url).pathname;

export interface ServerAddress {
  readonly url: string;
  readonly kubeconfig: string;
}

/**
 * An API server in a process of its own, to be killed and started again from the same folder on the same
 * port.
 */
export class ServerProcess implements AsyncDisposable {
  readonly #directory: string;
  #port = "0";
  #kill: () => Promise<void> = async () => {};

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Resolves when it serves, with nothing when it ended before. */
  async launch(): Promise<ServerAddress | undefined> {
    const args = ["--conditions=@setpoint/source", program, this.#directory, this.#port];
    // Most of a start is compiling; fifty of them are worth a cache.
    const env = { ...process.env, NODE_COMPILE_CACHE: join(this.#directory, "compile-cache") };
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env });
    const ended = once(child, "exit");
    this.#kill = async () => {
      child.kill("SIGKILL");
      await ended;
    };
    for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as ServerAddress;
    return undefined;
  }

  /** Resolves when it serves. */
  async start(): Promise<ServerAddress> {
    const address = await this.launch();
    if (address === undefined)
      throw new Error(`Cannot start the API server from "${this.#directory}": it ended; what it said stands above`);
    this.#port = new URL(address.url).port;
    return address;
  }

  /** As `kill -9`; resolves when it has ended. */
  kill(): Promise<void> {
    return this.#kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kill();
  }
}
