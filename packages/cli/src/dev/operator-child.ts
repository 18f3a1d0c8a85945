/** The operator under development as a process of its own: what it leaves behind in memory ends with it. */
import { spawn, type ChildProcess } from "node:child_process";
import { endsWithParent } from "../end-with-parent.ts";

const bin = new URL("../../bin/setpoint.mjs", import.meta.url).pathname;
/** Longer than the operator itself waits for its reconciles. */
const stopMsMax = 25_000;

export interface OperatorChildOptions {
  readonly file: string;
  readonly kubeconfig: string;
  /** Takes what it prints. */
  readonly err: (text: string) => void;
  /** It ended though nobody has stopped it. */
  readonly onEnd: (code: number | null) => void;
}

/** Starts it; disposing stops it as a kubelet does, and resolves when it is gone. */
export function startOperatorChild({ file, kubeconfig, err, onEnd }: OperatorChildOptions): AsyncDisposable {
  const child = spawn(process.execPath, [bin, "run", file, "--kubeconfig", kubeconfig], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, [endsWithParent]: "1" },
  });
  child.stderr.on("data", (chunk: Buffer) => err(chunk.toString()));
  let isStopping = false;
  const ended = new Promise<void>((resolve) => {
    child.once("close", (code) => {
      resolve();
      if (!isStopping) onEnd(code);
    });
  });
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      isStopping = true;
      await stop(child, ended);
    },
  };
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
  await ended;
  clearTimeout(timer);
}

/** Whether the file still exports an operator; what is wrong with it otherwise. */
export function checkOperatorFile(file: string): Promise<string | undefined> {
  const child = spawn(process.execPath, [bin, "manifests", file], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) => resolve(code === 0 ? undefined : said.replace(/\nUsage: [\s\S]*$/, "").trimEnd()));
  });
}
