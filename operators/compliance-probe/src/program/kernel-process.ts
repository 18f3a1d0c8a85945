/** Calls of the kernel are made in a process of their own, because some of them change the process. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { SystemCall, SystemCallAnswer } from "../acts/probed-pod.ts";

const callMsMax = 15_000;

/** Undefined when this Node cannot call the kernel. */
export async function callKernel(call: SystemCall): Promise<SystemCallAnswer | undefined> {
  return (await runOwn("system-call", JSON.stringify(call))) as SystemCallAnswer | undefined;
}

/** Undefined when this Node cannot call the kernel. */
export async function startThreads(max: number): Promise<number | undefined> {
  return (await runOwn("threads", String(max))) as number | undefined;
}

/** The answer is one line of JSON; `null` when there is no way to make calls. */
async function runOwn(command: string, argument: string): Promise<unknown> {
  const args = ["--disable-warning=ExperimentalWarning", process.argv[1] ?? "", command, argument];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: callMsMax, killSignal: "SIGKILL" });
  return (JSON.parse(stdout) as unknown) ?? undefined;
}
