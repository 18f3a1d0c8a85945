import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import { type Command, usageError } from "../command.ts";
import { backup } from "../store/backup.ts";
import { check } from "../store/check.ts";
import { repair } from "../store/repair.ts";
import { restore } from "../store/restore.ts";
import type { StoreCommand } from "../store/store-command.ts";
import { storeDirectory } from "../store/store-directory.ts";

const subcommands: Readonly<Record<string, StoreCommand>> = { check, repair, backup, restore };

/** `setpoint store`: what to do with the files of a control plane that is stopped. */
export const store: Command = {
  name: "store",
  usage: "store check | repair [--accept-loss] | backup FILE | restore FILE [--replace]  [--data-dir DIR]",
  summary:
    "Check, repair, back up or restore the stored state of a cluster that is stopped. A repair that loses something, and a restore over a store, need their flag.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const yes = { type: "boolean" } as const;
    const options = { "data-dir": text, "accept-loss": yes, replace: yes } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [name = "", file = "", more] = positionals;
    const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
    if (subcommand === undefined) throw usage(`"${name}" is not one of ${Object.keys(subcommands).join(", ")}`);
    const surplus = subcommand.takesFile ? more : file === "" ? undefined : file;
    if (surplus !== undefined) throw usage(`unexpected argument "${surplus}"`);
    if (subcommand.takesFile && file === "") throw usage(`${name} needs the name of a file`);
    for (const flag of ["accept-loss", "replace"] as const)
      if (values[flag] === true && subcommand.yes !== flag) throw usage(`${name} does not take --${flag}`);
    const accepted = subcommand.yes !== undefined && values[subcommand.yes] === true;
    return subcommand.run({ directory: storeDirectory(values["data-dir"]), file, yes: accepted }, output);
  },
};

function usage(why: string): SetpointError {
  return new SetpointError(usageError, `Cannot use the store: ${why}`);
}
