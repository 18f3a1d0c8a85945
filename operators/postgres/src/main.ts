/** The operator's process, or by its first argument another program of the image. */
import { runOperatorProcess } from "setpoint/process";

async function run([command = "", target = ""]: readonly string[]): Promise<number> {
  if (command === "install-manager") {
    const { installManager } = await import("./manager/install-manager.ts");
    installManager(target);
    return 0;
  }
  if (command === "agent") {
    // A call of the store that was abandoned must not keep the process alive.
    const { runPostgresAgent } = await import("./engine/run-postgres-agent.ts");
    process.exit(await runPostgresAgent());
  }
  if (command === "archive") {
    const { runArchiver } = await import("./archiver/run-archiver.ts");
    process.exit(await runArchiver());
  }
  const { default: operator } = await import("./operator.ts");
  return runOperatorProcess(operator);
}

process.exitCode = await run(process.argv.slice(2));
