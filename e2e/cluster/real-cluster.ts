import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Reference } from "./reference.ts";

/**
 * A genuine one-node Kubernetes in a network namespace, driven by cluster.sh. Its disposal takes down what
 * `up` began.
 */
export class RealCluster implements AsyncDisposable {
  readonly #reference: Reference;
  readonly #directory: string;

  constructor(reference: Reference, directory: string) {
    this.#reference = reference;
    this.#directory = directory;
  }

  async up(signal: AbortSignal): Promise<void> {
    if ((await this.#script("up", [], signal)) !== 0)
      throw new Error("Cannot bring the cluster up: cluster.sh says why above");
  }

  /** Gives the node an image; it pulls none. */
  async load(archive: string, signal: AbortSignal): Promise<void> {
    if ((await this.#script("load", [archive], signal)) !== 0)
      throw new Error(`Cannot load the image archive "${archive}"`);
  }

  /** Runs a program where the cluster's addresses are reachable; resolves to its exit code. */
  exec(command: readonly string[], signal: AbortSignal): Promise<number> {
    return this.#script("exec", command, signal);
  }

  kubectl(args: readonly string[], signal: AbortSignal): Promise<number> {
    const kubeconfig = join(this.#directory, "kubeconfig");
    return this.exec([join(this.#reference.bin, "kubectl"), "--kubeconfig", kubeconfig, ...args], signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#script("down", [], new AbortController().signal);
  }

  #script(verb: string, args: readonly string[], signal: AbortSignal): Promise<number> {
    const { script, bin } = this.#reference;
    const env = { ...process.env, BIN: bin };
    return new Promise((resolve, reject) => {
      const child = spawn(script, [verb, this.#directory, ...args], {
        env,
        signal,
        stdio: ["ignore", "inherit", "inherit"],
      });
      child.once("error", (error) => (error.name === "AbortError" ? undefined : reject(error)));
      child.once("close", (code) => resolve(code ?? 1));
    });
  }
}
