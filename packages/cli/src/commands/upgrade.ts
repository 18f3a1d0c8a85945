import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import { usageError, type Command } from "../command.ts";
import { changeText, enactUpgrade, readUpgrade } from "../upgrade/upgrade-project.ts";

/** `setpoint upgrade`: a project that was created earlier gets what its scaffold has learned since. */
export const upgrade: Command = {
  name: "upgrade",
  usage: "upgrade [--directory DIR] [--dry-run]",
  summary:
    "Merge what the scaffold of `create operator` has learned since into the project in the current folder; your edits stay. --dry-run shows the lines. Exit code 1 when a file is left for you to merge.",
  async run(args, output) {
    const options = { directory: { type: "string" }, "dry-run": { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (positionals.length > 0)
      throw new SetpointError(
        usageError,
        `Cannot upgrade "${positionals.join(" ")}": a project is named by --directory`,
      );
    const directory = resolve(values.directory ?? ".");
    const isDryRun = values["dry-run"] ?? false;
    const found = readUpgrade(directory);
    const { record, version, plan, present } = found;
    const name = `the operator "${record.name}"`;
    if (!isDryRun) enactUpgrade(directory, found);
    if (plan.changes.length === 0) {
      output.out(`Nothing to do: ${name} has the scaffold of setpoint ${version}\n`);
    } else {
      const what = isDryRun ? "An upgrade of" : "Upgraded";
      output.out(`${what} ${name} from setpoint ${record.version} to ${version}${isDryRun ? " would do" : ""}:\n`);
      for (const change of plan.changes) output.out(changeText(change, isDryRun ? present : undefined));
    }
    if (plan.changes.some(({ path }) => path === "package.json") && !isDryRun)
      output.out(
        `Next: ${directory === process.cwd() ? "" : `cd ${relative(process.cwd(), directory)}, then `}npm install\n`,
      );
    return plan.changes.some(({ kind }) => kind === "conflict") ? 1 : 0;
  },
};
