import { spawn } from "node:child_process";

const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
export const operatorFile: string = new URL("../../examples/candy/candy.ts", import.meta.url).pathname;
const readyMsMax = 30_000;

/** `setpoint run FILE` against a cluster, as a user starts it; resolves when it says that it is ready. */
export async function startOperator(kubeconfig: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [bin, "run", operatorFile, "--kubeconfig", kubeconfig], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ready = new Promise<void>((resolve) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-10_000);
      if (said.includes('"message":"Ready"')) resolve();
    });
  });
  const late = new AbortController();
  const failed = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`The operator is not ready: ${said}`)), readyMsMax);
    late.signal.addEventListener("abort", () => clearTimeout(timer));
    void ended.then(() => reject(new Error(`The operator ended: ${said}`)));
  });
  failed.catch(() => {});
  try {
    await Promise.race([ready, failed]);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    late.abort();
  }
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
