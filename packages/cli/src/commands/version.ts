import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Command } from "../command.ts";

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

/** The version in this package's manifest. */
export function ownVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  return manifest.version;
}
