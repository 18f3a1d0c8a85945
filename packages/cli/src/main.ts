/** The `setpoint` command: finds the subcommand, runs it, and turns errors into one sentence. */
import { isSetpointError } from "@setpoint/apimachinery";
import { usageError, type Command } from "./command.ts";
import { node } from "./commands/node.ts";
import { run } from "./commands/run.ts";
import { up } from "./commands/up.ts";
import { sentenceOf } from "./sentence-of.ts";

const commands: readonly Command[] = [up, run, node];

/** Resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "help" || name === "--help") {
    process.stdout.write(usage());
    return name === undefined ? 2 : 0;
  }
  const command = commands.find((each) => each.name === name);
  if (command === undefined) {
    process.stderr.write(`Cannot run "setpoint ${name}": there is no such command.\n${usage()}`);
    return 2;
  }
  try {
    return await command.run(rest);
  } catch (error) {
    process.stderr.write(`${sentenceOf(error)}\n`);
    return isSetpointError(error, usageError) ? 2 : 1;
  }
}

function usage(): string {
  const shown = commands.filter((each) => !each.internal);
  const lines = shown.map((each) => `  setpoint ${each.usage}\n      ${each.summary}`);
  return `Usage:\n${lines.join("\n")}\n`;
}
