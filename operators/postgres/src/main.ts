/** The operator's process, or by its first argument the program that an instance's pod starts with. */
import { runOperatorProcess } from "setpoint/process";

async function run([command = "", target = ""]: readonly string[]): Promise<number> {
  if (command === "install-manager") {
    const { installManager } = await import("./manager/install-manager.ts");
    installManager(target);
    return 0;
  }
  const { default: operator } = await import("./operator.ts");
  return runOperatorProcess(operator);
}

process.exitCode = await run(process.argv.slice(2));
