import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import { isOperator, runOperatorProcess } from "setpoint/process";
import { usageError, type Command } from "../command.ts";

/** `setpoint run`: an operator's module against the current cluster. */
export const run: Command = {
  name: "run",
  usage: "run FILE [--kubeconfig FILE] [--context NAME] [--namespace NS] [--install]",
  summary: "Run the operator that FILE exports as default; --install applies its CRDs first (default outside a pod).",
  async run(args) {
    const text = { type: "string" } as const;
    const options = { kubeconfig: text, context: text, namespace: text, install: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [file] = positionals;
    if (file === undefined) throw new SetpointError(usageError, "Cannot run an operator: the file that exports it is missing");
    const module = (await import(resolve(file))) as { readonly default?: unknown };
    if (!isOperator(module.default)) throw new SetpointError(usageError, `Cannot run "${file}": its default export is not an operator; export default defineOperator({ … })`);
    return runOperatorProcess(module.default, values);
  },
};
