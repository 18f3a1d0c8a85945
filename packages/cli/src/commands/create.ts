import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import { usageError, type Command } from "../command.ts";
import { createProject } from "../create/create-project.ts";
import { parseOperatorName } from "../create/operator-words.ts";
import { ownOrigin } from "../create/own-package.ts";

/** `setpoint create operator`: a project whose start and test work at once. */
export const create: Command = {
  name: "create",
  usage: "create operator NAME [--directory DIR]",
  summary: "Create a project with one kind, its controller and a test in the simulated world; into ./NAME by default.",
  async run(args, output) {
    const options = { directory: { type: "string" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [what, name] = positionals;
    if (what === "operator" && name === undefined)
      throw new SetpointError(
        usageError,
        "Cannot create an operator: its name is missing, expected one such as ice-cream",
      );
    if (what !== "operator" || name === undefined || positionals.length > 2) {
      const given = positionals.length === 0 ? "a project" : `"${positionals.join(" ")}"`;
      throw new SetpointError(usageError, `Cannot create ${given}: expected "operator" and a name`);
    }
    const words = parseOperatorName(name);
    const directory = resolve(values.directory ?? name);
    const paths = createProject(words, directory);
    const shown = relative(process.cwd(), directory) || ".";
    output.out(`Created the operator "${name}" in ${shown}:\n${paths.map((path) => `  ${path}\n`).join("")}`);
    output.out(nextSteps(shown));
    return 0;
  },
};

function nextSteps(folder: string): string {
  // A project of a checkout has the checkout's packages.
  const install = ownOrigin() === "package" ? "npm install, " : "";
  return [
    `Next: cd ${folder}, ${install}then npm test`,
    'With a cluster, such as "npx setpoint up" in another terminal: export KUBECONFIG=.setpoint/kubeconfig, then npm start',
    "",
  ].join("\n");
}
