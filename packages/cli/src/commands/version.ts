import { parseArgs } from "node:util";
import type { Command } from "../command.ts";
import { ownVersion } from "../own-version.ts";

/** `setpoint version`: what a report of a fault should say. */
export const version: Command = {
  name: "version",
  usage: "version",
  summary: "Print the versions of setpoint and of Node.js, and the platform.",
  async run(args, output) {
    parseArgs({ args: [...args], options: {} });
    output.out(`setpoint ${ownVersion()}, Node.js ${process.versions.node}, ${process.platform} ${process.arch}\n`);
    return 0;
  },
};
