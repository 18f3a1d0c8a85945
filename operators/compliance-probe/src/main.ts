/** The operator's process, or by its first argument a program of the pods of runs. */
import { runOperatorProcess } from "setpoint/process";

async function run([command = "", ...args]: readonly string[]): Promise<number> {
  switch (command) {
    case "probe":
      return (await import("./program/run-probe.ts")).runProbe();
    case "system-call":
      return (await import("./program/call-kernel.ts")).runSystemCall(args[0] ?? "");
    case "threads":
      return (await import("./program/call-kernel.ts")).runThreads(Number(args[0]));
    default:
      return runOperatorProcess((await import("./operator.ts")).default);
  }
}

process.exitCode = await run(process.argv.slice(2));
