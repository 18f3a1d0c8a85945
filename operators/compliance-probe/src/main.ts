/**
 * The operator's process, or by its first argument a program of the pods of runs. A run starts a process for
 * each system call, so each loads only what it needs.
 */

async function run([command = "", ...args]: readonly string[]): Promise<number> {
  switch (command) {
    case "probe":
      return (await import("./program/run-probe.ts")).runProbe();
    case "system-call":
      return (await import("./program/call-kernel.ts")).runSystemCall(args[0] ?? "");
    case "threads":
      return (await import("./program/call-kernel.ts")).runThreads(Number(args[0]));
    default:
      return runOperator();
  }
}

async function runOperator(): Promise<number> {
  const [{ runOperatorProcess }, { default: operator }] = await Promise.all([
    import("setpoint/process"),
    import("./operator.ts"),
  ]);
  return runOperatorProcess(operator);
}

process.exitCode = await run(process.argv.slice(2));
