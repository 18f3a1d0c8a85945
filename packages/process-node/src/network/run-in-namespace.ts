/** Runs the tools that configure a network (`ip`, `nft`, `tc`) inside a namespace. */
import { execFile } from "node:child_process";
import { nodeError } from "../errors.ts";
import { enterNamespace, type NetworkNamespace } from "./namespace-holder.ts";

const commandMsMax = 20_000;
const outputBytesMax = 64 * 1024 * 1024;
/** Absolute folders: nothing is found by the environment of the caller. */
const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** Resolves with what the command writes to stdout. Throws `ERR_NETWORK` with what it says on stderr. */
export function runIn(namespace: NetworkNamespace, command: readonly string[], input: string = ""): Promise<string> {
  const [program = "", ...args] = [...enterNamespace(namespace), ...command];
  return new Promise((resolve, reject) => {
    const options = { env, cwd: "/", timeout: commandMsMax, maxBuffer: outputBytesMax };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const what = command.slice(0, 2).join(" ");
      reject(nodeError("ERR_NETWORK", `Cannot configure the pod network: ${what}: ${stderr.trim() || error.message}`));
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/** One transaction: all of the rules, or none. */
export function applyRules(namespace: NetworkNamespace, rules: string): Promise<string> {
  return runIn(namespace, ["nft", "-f", "-"], rules);
}
