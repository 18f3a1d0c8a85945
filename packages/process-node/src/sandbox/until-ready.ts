/** Waits for the first word of a process that holds namespaces. */
import type { ChildProcess } from "node:child_process";

/** Rejects with what it said when it ended instead. */
export function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let problem = "";
    child.stderr?.on("data", (chunk: Buffer) => (problem += chunk.toString()));
    child.stdout?.once("data", () => resolve());
    child.once("error", reject);
    child.once("close", () => reject(new Error(problem.trim() || "its holder ended")));
  });
}
