/** The operator's process, or by its first argument the reloader of a pod. */
import { runOperatorProcess } from "setpoint/process";

async function run([command = "", ...args]: readonly string[]): Promise<number> {
  if (command === "reload") {
    const { runReloader } = await import("./reload/run-reloader.ts");
    return runReloader(args);
  }
  const { default: operator } = await import("./operator.ts");
  return runOperatorProcess(operator);
}

process.exitCode = await run(process.argv.slice(2));
