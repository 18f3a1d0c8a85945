/** Runs a tool of the host, without the environment of the agent. */
import { execFile } from "node:child_process";

export const toolEnvironment: Readonly<Record<string, string>> = {
  PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
};
const toolMsMax = 30_000;

/** Resolves with its output; rejects with what it wrote to stderr. */
export function runTool(command: readonly string[]): Promise<string> {
  const [program = "", ...args] = command;
  return new Promise((resolve, reject) => {
    const options = { env: toolEnvironment, cwd: "/", timeout: toolMsMax };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(stderr.trim() || error.message));
    });
  });
}
