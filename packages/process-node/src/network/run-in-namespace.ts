/** Runs the tools that configure a network (`ip`, `nft`, `tc`) inside a namespace. */
import { execFile } from "node:child_process";
import { nodeError } from "../errors.ts";
import { launch } from "../host/launch.ts";
import { messageOf } from "@setpoint/apimachinery";
import { enterNamespace, type NetworkNamespace } from "./namespace-holder.ts";

const commandMsMax = 20_000;
const outputBytesMax = 64 * 1024 * 1024;
/** Absolute folders: nothing is found by the environment of the caller. */
const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** Throws `ERR_NETWORK` with what the command says. */
export async function runIn(
  namespace: NetworkNamespace,
  command: readonly string[],
  input: string = "",
): Promise<void> {
  try {
    await launch([...enterNamespace(namespace), ...command], { input, msMax: commandMsMax });
  } catch (error) {
    throw commandError(command, messageOf(error), error);
  }
}

/** Resolves with all that the command writes to stdout. Throws `ERR_NETWORK` with what it says on stderr. */
export function readIn(namespace: NetworkNamespace, command: readonly string[]): Promise<string> {
  const [program = "", ...args] = [...enterNamespace(namespace), ...command];
  return new Promise((resolve, reject) => {
    const options = { env, cwd: "/", timeout: commandMsMax, maxBuffer: outputBytesMax };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(commandError(command, stderr.trim() || error.message, error));
    });
  });
}

function commandError(command: readonly string[], problem: string, cause: unknown): Error {
  const what = command.slice(0, 2).join(" ");
  return nodeError("ERR_NETWORK", `Cannot configure the pod network: ${what}: ${problem}`, cause);
}

/** One transaction: all of the rules, or none. */
export function applyRules(namespace: NetworkNamespace, rules: string): Promise<void> {
  return runIn(namespace, ["nft", "-f", "-"], rules);
}
